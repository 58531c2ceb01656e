import Testing

@testable import Millpond

@Suite struct FileNameTests {
  @Test(arguments: [UInt64.min, 1, 0xFEED, .max])
  func `a name says what it was made of`(number: UInt64) {
    for name in [FileName.segment(number), .value(number), .unfinished(number), .index] {
      #expect(FileName(name.text) == name)
    }
  }

  @Test func `names never change`() {
    #expect(FileName.segment(0x1F).text == "000000000000001f.millpond-log")
    #expect(FileName.value(.max).text == "ffffffffffffffff.millpond-value")
    #expect(FileName.unfinished(0).text == "0000000000000000.millpond-new")
    #expect(FileName.index.text == "millpond.index")
  }

  @Test func `the order of names is that of numbers`() {
    let numbers: [UInt64] = [0, 1, 9, 10, 15, 16, 255, 256, 1 << 32, .max]
    let names = numbers.map { FileName.segment($0).text }

    #expect(names == names.sorted())
  }

  @Test(arguments: [
    "", ".", "..", "millpond.lock", "millpond.index ", "Millpond.index", ".millpond-log",
    "000000000000001F.millpond-log", "00000000000001f.millpond-log",
    "0000000000000001f.millpond-log", "000000000000001f.millpond-LOG",
    "000000000000001f.millpond-value~", "+00000000000001f.millpond-log",
    "000000000000001g.millpond-log", " 00000000000001f.millpond-log",
    "00000000000000é.millpond-log", "000000000000001f.millpond",
  ])
  func `a name that only looks like the cache's own is not recognised`(name: String) {
    #expect(FileName(name) == nil)
  }
}
