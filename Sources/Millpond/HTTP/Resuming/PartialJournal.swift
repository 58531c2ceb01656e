import Foundation
import MillpondSignals

/// A record of the progress of a download, from which a later process resumes if this one dies; and
/// what of it is kept when it breaks off.
final class PartialJournal: Sendable {
  private let partials: PartialTransfers
  private let state = Locked(State())

  private struct State: Sendable {
    var content: Content?
    var record: Record?

    /// Whether no record can be made, or is needed any more.
    var isOver = false
  }

  /// The bytes whose rest can be requested later, while that is wanted.
  private struct Content: Sendable {
    let version: ResourceVersion
    let place: PartialPlace
    let isCurrent: RequestSender.IsCurrent
  }

  private struct Record: Sendable {
    let head: OpenFile
    let place: PartialPlace
  }

  init(_ partials: PartialTransfers) {
    self.partials = partials
  }

  /// Begins to record bytes of a version; nil if their rest can't be requested.
  func follow(
    _ version: ResourceVersion?, at place: PartialPlace,
    while isCurrent: @escaping RequestSender.IsCurrent
  ) {
    state.withLock {
      $0.content = version.map { Content(version: $0, place: place, isCurrent: isCurrent) }
    }
  }

  private var content: Content? {
    state.withLock { $0.content }.flatMap { $0.isCurrent() ? $0 : nil }
  }

  /// Takes over the file of a download that broke off; false if it stays in its place.
  func keep(_ file: UnfinishedFile) -> Bool {
    end()
    return content.map { partials.keep(file, $0.version, at: $0.place) } ?? false
  }

  /// Records the bytes so far; after a failure they are just not found later.
  ///
  /// Nil ends the record. Blocks the first time.
  func note(_ file: UnfinishedFile?) {
    guard let file, let content else { return end() }
    guard let record = record(of: file, content.place) else { return }
    do {
      try PartialHead(file, content.version, at: content.place).write(to: record.head)
    } catch {
      end()
    }
  }

  private func record(of file: UnfinishedFile, _ place: PartialPlace) -> Record? {
    let (present, isOver) = state.withLock { ($0.record, $0.isOver) }
    if present != nil || isOver { return present }
    let record = partials.follow(file, at: place).map { Record(head: $0, place: place) }
    state.withLock { ($0.record, $0.isOver) = (record, record == nil) }
    return record
  }

  private func end() {
    let record = state.withLock { state in
      state.isOver = true
      return exchange(&state.record, with: nil)
    }
    guard let record else { return }
    try? record.head.close()
    partials.endFollowing(record.place)
  }
}
