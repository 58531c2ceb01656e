import MillpondTesting
import Testing

@testable import Millpond

@Suite struct ResumableFileTests {
  private let endings = Watched<[Bool]>([])

  private func lend() -> ResumableFile {
    ResumableFile(UnfinishedFile(path: "a", byteCount: 1, checksum: 2)) { [endings] isTaken in
      endings.change { $0.append(isTaken) }
    }
  }

  @Test func `one taker gets it, no other does, and it is not given back`() {
    do {
      let file = lend()
      #expect(file.take()?.path == "a")
      #expect(file.take() == nil)
      file.giveBack()
    }
    #expect(endings.state == [true])
  }

  @Test func `a file that was given back can't be taken any more`() {
    let file = lend()

    file.giveBack()

    #expect(file.take() == nil)
    #expect(endings.state == [false])
  }

  @Test func `a lent file without a taker is given back when it is released`() {
    _ = lend()

    #expect(endings.state == [false])
  }
}
