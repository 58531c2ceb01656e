import Foundation
import Testing

@testable import Millpond

@Suite struct EntryNameTests {
  private func parse(_ fileName: String) -> EntryName? {
    Array(fileName.utf8).withUnsafeBytes { EntryName(fileName: $0) }
  }

  @Test(arguments: ["", "a", "../x", "/", "é", "\u{0}"])
  func `a name is read back from its file name`(key: String) {
    let name = EntryName(of: key)

    #expect(parse(name.fileName) == name)
  }

  @Test func `D16 keys that differ only in case have names that differ not only in case`() {
    let names = ["a", "A"].map { EntryName(of: $0).fileName }

    #expect(names[0] != names[1])
    #expect(names.allSatisfy { $0 == $0.lowercased() })
  }

  @Test(arguments: [
    "", "a", "note.txt", ".millpond", "0123456789abcdef.millpond",
    "0123456789abcdef0123456789abcdef.data", "0123456789ABCDEF0123456789ABCDEF.millpond",
    "0123456789abcdef0123456789abcdeg.millpond", "0123456789abcdef0123456789abcdef.millponds",
    "0123456789abcdef.millpond-new", "millpond.lock",
  ])
  func `a file that is none of ours has no name`(fileName: String) {
    #expect(parse(fileName) == nil)
  }

  @Test func `only an unfinished file is temporary`() {
    func isTemporary(_ fileName: String) -> Bool {
      Array(fileName.utf8).withUnsafeBytes { EntryName.isTemporary(fileName: $0) }
    }

    #expect(isTemporary(EntryName.temporaryFileName(.max)))
    #expect(isTemporary(EntryName.temporaryFileName(0)))
    #expect(!isTemporary(EntryName(of: "a").fileName))
    #expect(!isTemporary("x.millpond-new"))
    #expect(!isTemporary("0123456789abcdeF.millpond-new"))
  }
}
