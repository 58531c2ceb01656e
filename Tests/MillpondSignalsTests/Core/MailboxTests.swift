import MillpondSignals
import MillpondTesting
import Synchronization
import Testing

@Suite struct MailboxTests {
  /// A receiver that keeps its messages in a list without a lock.
  final class Reader: @unchecked Sendable {
    // Sendable because having the mailbox's turn is exclusive: that is under test.
    private let mailbox = Mailbox<Int>()
    private let isReceiving = Atomic(false)
    private(set) var received: [Int] = []
    private(set) var overlaps = 0
    let reaction: @Sendable (Reader, Int) -> Void

    init(_ reaction: @escaping @Sendable (Reader, Int) -> Void = { _, _ in }) {
      self.reaction = reaction
    }

    func post(_ number: Int) {
      mailbox.post(number, replaces: { $0 < 0 && $1 < 0 }) { number in
        if isReceiving.exchange(true, ordering: .relaxed) { overlaps += 1 }
        received.append(number)
        reaction(self, number)
        isReceiving.store(false, ordering: .relaxed)
      }
    }
  }

  @Test func `a message to a free mailbox is received at once`() {
    let reader = Reader()

    reader.post(1)

    #expect(reader.received == [1])
  }

  @Test func `a message sent inside the receiver is received after the present one`() {
    let reader = Reader { reader, number in
      if number == 1 {
        reader.post(2)
        reader.post(3)
      }
    }

    reader.post(1)
    reader.post(4)

    #expect(reader.received == [1, 2, 3, 4])
    #expect(reader.overlaps == 0)
  }

  @Test func `a waiting message is dropped for one that replaces it`() {
    let reader = Reader { reader, number in
      if number == 1 { for message in [-1, -2, 5, -3] { reader.post(message) } }
    }

    reader.post(1)

    #expect(reader.received == [1, -2, 5, -3])
  }

  @Test func `messages of many threads never overlap and none is lost`() async throws {
    let reader = Reader()

    try await race(4) { index in
      for step in 0..<5_000 { reader.post(index * 5_000 + step) }
    }
    // The turn has been passed on by now: this is received at once, and after all others.
    reader.post(-1)

    #expect(reader.overlaps == 0)
    #expect(reader.received.count == 20_001)
    for index in 0..<4 {
      let own = reader.received.filter { $0 >= 0 && $0 / 5_000 == index }
      #expect(own == Array(index * 5_000..<(index + 1) * 5_000))
    }
  }
}
