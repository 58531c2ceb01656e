import Dispatch
import MillpondSignals
import Testing

@testable import MillpondCore

@Suite struct PendingWriteTests {
  @Test func `a write is on its way until it ends or is released`() {
    let (first, second) = (Revision.next(), Revision.next())
    let pending = PendingWrite(first)
    #expect(PendingWrite.isAny(before: second))

    pending.end()
    pending.end()
    withExtendedLifetime(PendingWrite(first)) {
      #expect(PendingWrite.isAny(before: second))
    }
  }

  @Test func `the oldest counts, in whichever order writes begin and end`() {
    var random = SystemRandomNumberGenerator()
    let revisions = (0..<300).map { _ in Revision.next() }
    var pending = revisions.shuffled(using: &random).map { ($0, PendingWrite($0)) }
    pending.shuffle(using: &random)

    while let (revision, write) = pending.popLast() {
      write.end()
      guard let oldest = pending.map(\.0).min() else { break }
      // Other tests may have older ones on their way.
      #expect(PendingWrite.isAny(before: Revision(number: oldest.number + 1)))
      _ = revision
    }
  }

  @Test func `a write that two layers delay is pending until both have ended it`() {
    let revision = Revision.next()
    let after = Revision.next()
    let (outer, inner) = (PendingWrite(revision), PendingWrite(revision))

    inner.end()
    #expect(PendingWrite.isAny(before: after))
    outer.end()
  }

  @Test func `from four threads none is forgotten`() {
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      for _ in 0..<1_000 {
        let revision = Revision.next()
        PendingWrite.during(revision) {
          if !PendingWrite.isAny(before: .next()) { Issue.record("the write is not on its way") }
        }
      }
    }
  }
}
