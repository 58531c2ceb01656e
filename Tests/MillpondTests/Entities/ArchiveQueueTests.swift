import Foundation
import MillpondCore
@testable import MillpondEntityArchive
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

@Suite struct ArchiveQueueTests {
  let scene = DiskScene()
  let events = Locked<[String]>([])

  private func flush(_ queue: ArchiveQueue) async throws {
    let flushed = Promise<Void>()
    queue.add(.flush(.written, flushed))
    try await flushed.outcome.value
  }

  @Test func `before the start nothing is sealed, since it might be a part of a commit`()
    async throws
  {
    let disk = scene.open()
    let queue = ArchiveQueue(ArchiveWriter(disk))
    for number in 1...2 {
      queue.note([
        ArchiveEntry(
          identity: ArchivedIdentity(
            keyPrefix: "", reference: AnyReference(Reference<Book>(number))),
          text: { "\(number)" }
        ) { [events] in
          events.withLock { $0.append("\(number)") }
          return nil
        }
      ])
      queue.seal()
    }
    try await flush(queue)
    let before = events.withLock { $0 }
    queue.start()
    try await flush(queue)

    #expect(before == [])
    #expect(events.withLock { $0 } == ["1", "2"])
    try await disk.close().value
  }

  @Test func `a flush waits for commits that are not archived yet`() async throws {
    let (store, disk) = (EntityStore(), scene.open())
    let archive = EntityArchive(
      of: store, in: disk,
      types: [ArchivedType(Noted.self, named: "noted"), ArchivedType(Author.self, named: "author")])
    _ = try await archive.restored.value
    let flushed = Recorder<Void>()
    let subscription = store.signal(of: Reference<Author>("a")).subscribe(onNext: {
      [events] change in
      guard change.value != nil else { return }
      store.set(Noted(id: 1, events: events))
      flushed.subscribe(to: archive.flush()) { event in
        if case .next = event { events.withLock { $0.append("flushed") } }
      }
    })

    store.set(Author(id: "a", name: "Ann"))
    try await flushed.ended()

    #expect(events.withLock { $0 } == ["encoded", "flushed"])
    subscription.dispose()
    try await disk.close().value
  }
}

/// An entity that records its encoding.
private struct Noted: Entity, Codable {
  let id: Int
  var events = Locked<[String]>([])

  enum CodingKeys: CodingKey { case id }

  static func == (left: Noted, right: Noted) -> Bool {
    left.id == right.id
  }

  func encode(to encoder: any Encoder) throws {
    events.withLock { $0.append("encoded") }
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
  }
}
