/// Hierarchical clustering with average linkage.
enum AverageLinkage {
    /// Joins the two clusters with the least mean distance of their members, until it exceeds a limit.
    ///
    /// - Returns: The cluster of each item, numbered in the order of their first items.
    /// - Complexity: O(n³) at most, and n² values.
    static func clusters(of count: Int, within limit: Float, distance: (Int, Int) -> Float) -> [Int] {
        var distances = [Float](repeating: 0, count: count * count)
        for one in 0..<count {
            for other in 0..<one {
                distances[one * count + other] = distance(one, other)
                distances[other * count + one] = distances[one * count + other]
            }
        }
        var sizes = [Float](repeating: 1, count: count)
        var cluster = Array(0..<count)
        var roots = Array(0..<count)
        while let pair = nearest(roots, distances.span, count), distances[pair.0 * count + pair.1] <= limit {
            let (kept, joined) = pair
            roots.removeAll { $0 == joined }
            for other in roots where other != kept {
                let mean =
                    (distances[kept * count + other] * sizes[kept] + distances[joined * count + other] * sizes[joined])
                    / (sizes[kept] + sizes[joined])
                distances[kept * count + other] = mean
                distances[other * count + kept] = mean
            }
            sizes[kept] += sizes[joined]
            for item in 0..<count where cluster[item] == joined { cluster[item] = kept }
        }
        var numbers: [Int: Int] = [:]
        return cluster.map { root in
            let number = numbers[root] ?? numbers.count
            numbers[root] = number
            return number
        }
    }

    /// The two clusters with the least distance, the earlier one first.
    private static func nearest(_ roots: [Int], _ distances: Span<Float>, _ count: Int) -> (Int, Int)? {
        var (least, best): (Float, (Int, Int)?) = (.infinity, nil)
        for (place, one) in roots.enumerated() {
            for other in roots[(place + 1)...] where distances[one * count + other] < least {
                (least, best) = (distances[one * count + other], (one, other))
            }
        }
        return best
    }
}
