#if os(Linux)
  import Foundation
  import Testing

  @testable import MillpondBench

  @Suite struct SystemReportTests {
    @Test func `the bytes passed to calls that write count, not those that reach a disk`() {
      let report = WriteReport("rchar: 1\nwchar: 234\nsyscr: 5\nwrite_bytes: 6\n")

      #expect(report.passed == 234)
      #expect(WriteReport("rchar: 1\nwchar: lots\n").passed == nil)
    }

    @Test func `the bytes that this process writes count`() throws {
      let scene = try WorkFolderScene()
      let before = try #require(writtenBytes())

      try Data(count: 100_000).write(to: URL(filePath: scene.workFolder.path(of: "a")))

      #expect(try #require(writtenBytes()) - before >= 100_000)
    }

    @Test(arguments: [
      ("/a", "ext4"), ("/run/a", "tmpfs"), ("/run", "tmpfs"), ("/running", "ext4"),
      ("/run/disk/a", "xfs"), ("/run/twice", "ramfs"),
    ])
    func `the innermost file system around a path is its own, and the last of several`(
      path: String, kind: String
    ) {
      let report = MountReport(
        """
        /dev/vda / ext4 rw 0 0
        /dev/vdb /run/disk xfs rw 0 0
        tmpfs /run tmpfs rw 0 0
        tmpfs /run/twice tmpfs rw 0 0
        none /run/twice ramfs rw 0 0
        """)

      #expect(report.kind(of: path).map(String.init) == kind)
    }

    @Test func `without file systems, a path has none`() {
      #expect(MountReport("").kind(of: "/a") == nil)
    }
  }
#endif
