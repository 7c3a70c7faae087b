/// The weights of the pitch classes in a major and a minor key, from the tonic on.
public enum KeyProfile: String, CaseIterable, Sendable {
    /// Ratings by listeners: C. L. Krumhansl, "Cognitive Foundations of Musical Pitch", Oxford University Press, 1990, p. 30.
    case krumhansl
    /// The part of the segments of the Kostka-Payne corpus of common-practice music that contain a pitch class: D. Temperley,
    /// "Music and Probability", MIT Press, 2007, p. 85; the method is that of "What's Key for Key?", Music Perception 17(1), 1999.
    case temperley
    /// Electronic dance music: Á. Faraldo, E. Gómez, S. Jordà and P. Herrera, "Key Estimation in Electronic Dance Music", ECIR 2016.
    case edma
    /// Music of any kind: the profile of Temperley and Essentia's `bgate`, each with mean 0 and norm 1, in equal parts. `bgate` is the
    /// median of electronic dance music with its four smallest values set to 0, by Á. Faraldo: major 1, 0, 0.42, 0, 0.53, 0.37, 0, 0.77, 0,
    /// 0.38, 0.21, 0.30, minor 1, 0, 0.36, 0.39, 0, 0.38, 0, 0.74, 0.27, 0, 0.42, 0.23.
    case general

    /// The profile of the major key.
    var major: [Float] {
        switch self {
        case .krumhansl: [6.35, 2.23, 3.48, 2.33, 4.38, 4.09, 2.52, 5.19, 2.39, 3.66, 2.29, 2.88]
        case .temperley: [0.748, 0.060, 0.488, 0.082, 0.670, 0.460, 0.096, 0.715, 0.104, 0.366, 0.057, 0.400]
        case .edma: [1.00, 0.29, 0.50, 0.40, 0.60, 0.56, 0.32, 0.80, 0.31, 0.45, 0.42, 0.39]
        case .general: [1.00, 0.00, 0.51, 0.01, 0.69, 0.47, 0.02, 0.85, 0.03, 0.41, 0.11, 0.39]
        }
    }

    /// The profile of the minor key.
    var minor: [Float] {
        switch self {
        case .krumhansl: [6.33, 2.68, 3.52, 5.38, 2.60, 3.53, 2.54, 4.75, 3.98, 2.69, 3.34, 3.17]
        case .temperley: [0.712, 0.084, 0.474, 0.618, 0.049, 0.460, 0.105, 0.747, 0.404, 0.067, 0.133, 0.330]
        case .edma: [1.00, 0.31, 0.44, 0.58, 0.33, 0.49, 0.29, 0.78, 0.43, 0.29, 0.53, 0.32]
        case .general: [1.00, 0.02, 0.48, 0.60, 0.00, 0.49, 0.04, 0.88, 0.39, 0.01, 0.29, 0.32]
        }
    }
}
