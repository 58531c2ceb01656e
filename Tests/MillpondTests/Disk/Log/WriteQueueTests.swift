import Foundation
import MillpondCore
import Testing

@testable import Millpond

@Suite struct WriteQueueTests {
  private var queue = WriteQueue()

  @Test mutating func `the writer takes a few writes at a time, in order, whatever their size`() {
    let count = 2 * WriteQueue.stepSize + 1
    for number in 0..<count {
      var consequence = DiskIndex.Consequence()
      queue.append(IndexScene.write("\(number)"), &consequence)
    }
    var taken: [[String]] = []
    while case .writes(let writes) = queue.take(limit: .max) { taken.append(writes.map(\.key)) }

    #expect(taken.map(\.count) == [WriteQueue.stepSize, WriteQueue.stepSize, 1])
    #expect(WriteQueue.stepSize <= 1_024)
    #expect(taken.joined().elementsEqual((0..<count).map { "\($0)" }))
    #expect(queue.waitingBytes == 0)
    let rests = queue.rest()
    #expect(rests)
  }

  @Test mutating func `a write that replaces others has the place of the first`() {
    var (last, order): (DiskWrite?, [String]) = (nil, [])
    for number in 0..<2 * WriteQueue.stepSize {
      var consequence = DiskIndex.Consequence()
      (consequence.superseded, consequence.isKept) = (last, true)
      let write = IndexScene.write("a")
      queue.append(write, &consequence)
      last = write
      if number == 0 { _ = queue.append {} }
    }

    while let work = queue.take(limit: .max) {
      switch work {
      case .task: order.append("task")
      case .group: order.append("group")
      case .writes(let writes):
        order.append("write")
        #expect(writes.count == 1 && writes.first === last)
        #expect(writes.first?.promises.count == 2 * WriteQueue.stepSize)
      }
    }
    #expect(order == ["write", "task"])
    #expect(queue.waitingBytes == 0)
  }
}
