import Foundation
import MillpondSignals

/// A record of the progress of a download, from which a later process resumes if this one dies; and
/// what of it is kept when it breaks off.
///
/// It is beside a second name of the download's file, which survives the clean-up of the cache's
/// folder. It is locked while the download is under way.
final class PartialJournal: Sendable {
  private let partials: PartialTransfers
  private let content = Locked<Content?>(nil)
  private let state = Locked(State.unused)

  /// The bytes whose rest can be requested later, while that is wanted.
  private struct Content: Sendable {
    let version: ResourceVersion
    let place: PartialPlace
    let isCurrent: RequestSender.IsCurrent
  }

  private enum State: Sendable {
    case unused
    case open(OpenFile, name: String)

    /// The journal is not available, or no longer needed.
    case over
  }

  init(_ partials: PartialTransfers) {
    self.partials = partials
  }

  /// Begins to record bytes of a version; nil if their rest can't be requested.
  func follow(
    _ version: ResourceVersion?, at place: PartialPlace,
    while isCurrent: @escaping RequestSender.IsCurrent
  ) {
    content.withLock {
      $0 = version.map { Content(version: $0, place: place, isCurrent: isCurrent) }
    }
  }

  private var currentContent: Content? {
    content.withLock { $0 }.flatMap { $0.isCurrent() ? $0 : nil }
  }

  /// Takes over the file of a download that broke off; false if it stays in its place.
  func keep(_ file: UnfinishedFile) -> Bool {
    currentContent.map { partials.keep(file, $0.version, at: $0.place) } ?? false
  }

  /// Records the bytes so far; after a failure they are just not found later.
  ///
  /// Nil ends the record. Blocks the first time.
  func note(_ file: UnfinishedFile?) {
    guard let file, let content = currentContent else { return end() }
    if case .unused = state.withLock({ $0 }) { begin(file, content.place) }
    guard case .open(let journal, _) = state.withLock({ $0 }) else { return }
    do {
      try ResumeFooter(file, PartialHead(content.place, content.version)).overwrite(journal)
    } catch {
      end()
    }
  }

  private func end() {
    let former = state.withLock { exchange(&$0, with: .over) }
    guard case .open(let journal, let name) = former else { return }
    partials.files.removeJournal(name)
    try? journal.close()
  }

  private func begin(_ file: UnfinishedFile, _ place: PartialPlace) {
    let name = place.fileName
    // On the queue, on which everything is removed too.
    let journal = partials.queue.sync {
      partials.isRemoved(place) ? nil : partials.files.makeJournal(name, of: file)
    }
    state.withLock { state in
      guard case .unused = state else { return }
      state = journal.map { .open($0, name: name) } ?? .over
    }
  }
}

extension PartialFiles {
  /// Creates the journal of a file and gives the file a second name; nil if either fails, or if the
  /// resource has another journal.
  func makeJournal(_ name: String, of file: UnfinishedFile) -> OpenFile? {
    removeNeedless()
    do {
      try makeFolder()
      let journal = try system.open(path(Self.name(name, .journal)), .making)
      do {
        guard try journal.lock() else { return nil }
        try system.link(file.path, to: path(Self.name(name, .running)))
        return journal
      } catch {
        removeJournal(name)
        return nil
      }
    } catch {
      return nil
    }
  }

  /// Removes the journal of a resource, and the second name of its file.
  func removeJournal(_ name: String) {
    try? remove(Self.name(name, .running))
    try? remove(Self.name(name, .journal))
  }

  /// Whether a journal was left by a dead process: a download that is under way holds its lock.
  func isLeft(_ journal: String) -> Bool {
    guard let file = try? system.open(path(journal), .updating) else { return false }
    return (try? file.lock()) == true
  }

  /// Turns the remains of a dead process's download into the file of its resource.
  ///
  /// - Returns: The footer of the file; nil if there is none, or if the file is also that of a
  ///   value, since the download was complete.
  func adopt(_ name: String) -> ResumeFooter? {
    let running = Self.name(name, .running)
    guard let journal = try? system.open(path(Self.name(name, .journal)), .updating),
      (try? journal.lock()) == true
    else { return nil }
    defer { removeJournal(name) }
    guard let tail = try? ResumeFooter(journal: journal), hasOneName(running) else { return nil }
    do {
      let file = try system.open(path(running), .updating)
      let status = try file.status()
      guard status.isRegular, status.size >= tail.byteCount else { return nil }
      try file.truncate(to: tail.byteCount)
      try tail.write(to: file)
      try file.close()
      try system.rename(path(running), to: path(name))
      return tail
    } catch {
      return nil
    }
  }

  private func hasOneName(_ name: String) -> Bool {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path(name))
    return (attributes?[.referenceCount] as? NSNumber)?.intValue == 1
  }
}
