import Testing

@testable import HemiolaSystem

struct TrustedPathTests {
    @Test func `folder of the owner of the root folder: is trusted, where a user namespace gives root another number`() {
        #expect(TrustedPath.isTrusted(65_534, by: 1000, rootFolderOwner: 65_534))
        #expect(!TrustedPath.isTrusted(65_534, by: 1000, rootFolderOwner: 0))
        #expect(TrustedPath.isTrusted(1000, by: 1000, rootFolderOwner: 0) && TrustedPath.isTrusted(0, by: 1000, rootFolderOwner: 0))
        #expect(!TrustedPath.isTrusted(1001, by: 1000, rootFolderOwner: 0))
    }
}
