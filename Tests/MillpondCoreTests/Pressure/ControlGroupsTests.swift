import Testing

@testable import MillpondCore

@Suite struct ControlGroupsTests {
  private func folders(_ text: String) -> [String] {
    ControlGroups(text).groups(root: "/c").map(\.folder)
  }

  @Test func `the group and all above it count, in both places of the tree`() {
    #expect(
      folders("0::/a/b\n") == [
        "/c/a/b", "/c/a", "/c", "/c/unified/a/b", "/c/unified/a", "/c/unified",
      ])
  }

  @Test func `groups of version 1 are not read`() {
    let text = "9:name=systemd:/s\n4:cpu,memory:/m:x\n3:cpuset:/k\n0::/\n"

    #expect(folders(text) == ["/c", "/c/unified"])
  }

  @Test func `a path outside the visible tree counts as the root`() {
    #expect(folders("0::/../../other\n") == ["/c", "/c/unified"])
  }

  @Test(arguments: ["", "\n\n", "garbage", "1:2", "::::"])
  func `an unreadable path counts as the root`(text: String) {
    #expect(folders(text).contains("/c"))
  }

  @Test func `an endless path has an end`() {
    let path = String(repeating: "/a", count: 30_000)

    #expect(folders("0::\(path)").count == 130)
  }
}
