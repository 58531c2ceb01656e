import Foundation
import MillpondCore
import Testing

@testable import Millpond

@Suite struct DiskIndexTests {
  private let name = EntryName(of: "a")
  private var index = DiskIndex(byteLimit: 300)

  private func record(_ key: String = "a", _ count: Int = 10) -> Record {
    Record(key: key, value: Data(count: count), bornAt: .now)
  }

  private func isTold(_ finding: DiskIndex.Finding?) -> Bool {
    if case .told = finding { true } else { false }
  }

  private func isFile(_ finding: DiskIndex.Finding?) -> Bool {
    if case .file = finding { true } else { false }
  }

  @Test func `what is told is there before it is written, and a file afterwards`() throws {
    var index = index

    let ticket = try #require(index.set(name, record(), .next()).ticket)
    #expect(isTold(index.find(name)))
    #expect(index.isObsolete(name))

    #expect(index.finishWriting(name, ticket: ticket) != nil)
    #expect(isFile(index.find(name)))
    #expect(!index.isObsolete(name))
  }

  @Test func `what was overtaken is not written, and its end changes nothing`() throws {
    var index = index
    let first = try #require(index.set(name, record(), .next()).ticket)
    let second = try #require(index.set(name, record(), .next()).ticket)

    #expect(index.unwritten(name, ticket: first) == nil)
    #expect(index.finishWriting(name, ticket: first) == nil)
    #expect(index.failWriting(name, ticket: first) == nil)

    #expect(isTold(index.find(name)))
    #expect(index.unwritten(name, ticket: second) != nil)
  }

  @Test func `what can't be written is forgotten`() throws {
    var index = index
    let ticket = try #require(index.set(name, record(), .next()).ticket)

    #expect(index.failWriting(name, ticket: ticket) != nil)

    #expect(index.find(name) == nil)
    #expect(index.totalBytes == 0)
  }

  @Test func `a bad file is forgotten once, and only if it is still that file`() throws {
    var index = index
    let old = try #require(index.set(name, record(), .next()).ticket)
    _ = index.finishWriting(name, ticket: old)
    let new = try #require(index.set(name, record(), .next()).ticket)
    let early = [index.forget(name, ticket: old), index.forget(name, ticket: new)]
    _ = index.finishWriting(name, ticket: new)

    let late = [index.forget(name, ticket: new), index.forget(name, ticket: new)]

    #expect(early == [false, false])
    #expect(late == [true, false])
    #expect(index.count == 0)
  }

  @Test func `room is made by what was not used for longest`() {
    var index = index
    let names = ["a", "b", "c", "d"].map { EntryName(of: $0) }
    for name in names.prefix(3) { _ = index.set(name, record("a", 43), .next()) }
    _ = index.find(names[0])

    let consequence = index.set(names[3], record("a", 43), .next())

    #expect(consequence.removals == [names[1]])
    #expect(consequence.records.count == 1)
    #expect(index.totalBytes == 300)
  }

  @Test func `what is larger than the limit removes its own entry only`() {
    var index = index
    _ = index.set(name, record(), .next())
    _ = index.set(EntryName(of: "b"), record("b"), .next())

    let consequence = index.set(name, record("a", 300), .next())

    #expect(consequence.ticket == nil)
    #expect(consequence.removals == [name])
    #expect(index.count == 1)
  }

  @Test func `an older telling changes nothing`() {
    var index = index
    let (old, new) = (Revision.next(), Revision.next())
    _ = index.set(name, record(), new)

    #expect(index.set(name, record(), old).ticket == nil)
    #expect(index.remove(name, old).removals.isEmpty)
    #expect(index.removeAll(old).removals.isEmpty)
    #expect(index.count == 1)
  }

  @Test func `a removal of everything spares what was told later`() {
    var index = index
    _ = index.set(EntryName(of: "b"), record("b"), .next())
    let removal = Revision.next()
    _ = index.set(name, record(), .next())

    #expect(index.removeAll(removal).removals == [EntryName(of: "b")])
    #expect(index.count == 1)
  }

  @Test func `what was there at the start counts as told before`() {
    var index = index
    let files = ["a", "b"].map { FoundFile(name: EntryName(of: $0), size: 100, usedAt: 0) }
    #expect(index.load(files).removals.isEmpty)

    #expect(index.lastTold(name) == .none)
    #expect(index.removeAll(.next()).removals.count == 2)
  }

  @Test func `of what was there at the start the oldest go, if it is too much`() {
    var index = index
    let names = (0..<5).map { EntryName(of: "\($0)") }

    let consequence = index.load(names.map { FoundFile(name: $0, size: 100, usedAt: 0) })

    #expect(consequence.removals == Array(names.prefix(2)))
    #expect(index.totalBytes == 300)
  }

  @Test func `sizes of any number at the start don't trap`() {
    var index = index
    let names = (0..<4).map { EntryName(of: "\($0)") }
    let sizes = [Int.max, 100, Int.max, 1 << 62]

    let consequence = index.load(
      zip(names, sizes).map { FoundFile(name: $0, size: $1, usedAt: 0) })

    #expect(consequence.removals == [names[0], names[2], names[3]])
    #expect(index.totalBytes == 100)
  }
}
