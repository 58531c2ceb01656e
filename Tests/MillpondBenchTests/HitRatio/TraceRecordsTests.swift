import Testing

@testable import MillpondBench

@Suite struct TraceRecordsTests {
  private let keys: [UInt8] = [1, 2, 0, 0, 0, 0, 0, 0, 0xFF, 0, 0, 0, 0, 0, 0, 0x80]
  private let keysAndSizes: [UInt8] = [
    1, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0xF0,
  ]

  @Test(arguments: 1...17)
  func `keys are the same wherever the bytes were parted`(length: Int) throws {
    var reader = TraceReader(.key)
    for piece in keys.pieces(of: length) { reader.receive(piece) }

    let trace = try reader.trace(name: "a")
    #expect(trace.keys == [0x0201, 0x8000_0000_0000_00FF])
    #expect(trace.sizes == nil)
  }

  @Test(arguments: 1...25)
  func `sizes stand behind the keys, without a gap`(length: Int) throws {
    var reader = TraceReader(.keyAndSize)
    for piece in keysAndSizes.pieces(of: length) { reader.receive(piece) }

    let trace = try reader.trace(name: "a")
    #expect(trace.keys == [0x0201, 3])
    #expect(trace.sizes == [256, 0xF000_0005])
  }

  @Test(arguments: TraceRecord.allCases)
  func `a cut record is reported with the name of the trace`(record: TraceRecord) {
    for missing in 1..<record.length {
      var reader = TraceReader(record)
      reader.receive([UInt8](repeating: 1, count: 3 * record.length - missing))

      let error = #expect(throws: TraceError.self) { try reader.trace(name: "corda") }
      #expect(error?.description.contains("corda") == true)
    }
  }

  @Test func `without a record there is no trace`() {
    #expect(throws: TraceError.self) { try TraceReader(.key).trace(name: "a") }
  }
}

extension [UInt8] {
  fileprivate func pieces(of length: Int) -> [ArraySlice<UInt8>] {
    stride(from: 0, to: count, by: length).map { self[$0..<Swift.min($0 + length, count)] }
  }
}
