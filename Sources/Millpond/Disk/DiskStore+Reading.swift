import Foundation
import MillpondCore
import MillpondSignals

/// What there is for a key.
struct DiskAnswer: Sendable {
  let value: Data
  let storedAt: WallTime
  let validator: Validator?
}

extension DiskStore {
  typealias Done = @Sendable (Result<DiskAnswer?, CacheError>) -> Void

  /// Whether there is a value for `key`, as far as that is known without reading it.
  func has(_ key: String) -> Bool {
    let (hash, now) = (KeyHash(of: key), options.now())
    return state.withLock { state in
      switch state.index.peek(hash) {
      case .told(let telling): telling.isFor(key) && telling.expiresAt > now
      case .spot(let spot): spot.expiry == .max || spot.expiry > now.wholeSeconds
      case nil: false
      }
    }
  }

  /// What there is for a key, as far as that is known without waiting.
  enum AnswerNow {
    case hit(DiskAnswer)
    case miss

    /// More has to be done to know it.
    case later(Found)
  }

  /// What there is for `key`, if that needs no waiting for the disk, and nothing is wrong with it.
  ///
  /// Whoever asks mostly gets by with this: no closure is made for him.
  func answerNow(_ key: String) -> AnswerNow {
    guard let found = find(KeyHash(of: key)) else { return .miss }
    switch found {
    case .told(let telling, let content):
      guard case .value(let value) = content, telling.isFor(key),
        telling.expiresAt == .never || telling.expiresAt > options.now()
      else { return .later(found) }
      return .hit(
        DiskAnswer(value: value, storedAt: telling.storedAt, validator: telling.validator))
    case .record(let place):
      guard let reading = place.readNow(for: key) else { return .later(.waiting(place)) }
      guard case .whole(let record) = reading,
        record.expiresAt == .never || !record.isExpired(at: options.now())
      else { return .later(found) }
      if case .file(let file) = record.content { return .later(.file(file, record, place)) }
      guard case .value(let value) = record.content,
        let opened = options.form.opened(value, for: key, version: record.schema)
      else { return .later(found) }
      return .hit(
        DiskAnswer(value: opened, storedAt: record.storedAt, validator: record.validator))
    case .waiting, .file: return .later(found)
    }
  }

  /// Calls `done` with what there is for `key`: at once, if that needs no waiting for the disk.
  func ask(_ key: String, _ lifetime: Lifetime, _ done: @escaping Done) {
    guard let found = find(KeyHash(of: key)) else { return done(.success(nil)) }
    ask(key, from: found, lifetime, done)
  }

  /// Calls `done` with what there is for `key`, which has been found.
  func ask(_ key: String, from found: Found, _ lifetime: Lifetime, _ done: @escaping Done) {
    let question = DiskQuestion(key: key, lifetime: lifetime, done: done)
    switch found {
    case .told(let telling, let content): answer(question, from: telling, content)
    case .record(let place):
      if let reading = place.readNow(for: key) {
        take(reading, place, question)
      } else {
        read(place, question)
      }
    case .waiting(let place): read(place, question)
    case .file(let file, let record, let place): readFile(file, record, place, question)
    }
  }

  /// Where a value is.
  enum Found {
    case told(Told, Told.Content)
    case record(RecordPlace)

    /// The same, but the disk has to be waited for.
    case waiting(RecordPlace)

    /// The record has been read: the value is in a file.
    case file(LargeValue, StoredRecord, RecordPlace)
  }

  private func find(_ hash: KeyHash) -> Found? {
    var lost: Spot?
    let found = state.withLock { state -> Found? in
      switch state.index.find(hash) {
      case .told(let telling):
        state.index.count { $0.hits += 1 }
        // The content is read here: it may be let go of as soon as the lock is free.
        return .told(telling, telling.content)
      case .spot(let spot):
        if let segment = state.segments[spot.segment] {
          state.index.count { $0.hits += 1 }
          return .record(RecordPlace(segment: segment, spot: spot))
        }
        lost = spot
      case nil: break
      }
      state.index.count { $0.misses += 1 }
      return nil
    }
    if let lost { _ = forget(hash, at: lost, key: nil) { _ in } }
    return found
  }

  private func answer(
    _ question: DiskQuestion, from telling: Told, _ content: Told.Content
  ) {
    guard telling.isFor(question.key), telling.expiresAt > options.now() else {
      return miss(question)
    }
    switch content {
    case .value(let value):
      let answer = DiskAnswer(
        value: value, storedAt: telling.storedAt, validator: telling.validator)
      question.done(.success(answer))
    case .file(let file):
      let record = StoredRecord(
        content: .file(file), storedAt: telling.storedAt, expiresAt: telling.expiresAt,
        validator: telling.validator, schema: options.form.schema.version)
      readFile(file, record, nil, question)
    case .removal, .removalOfAll: miss(question)
    }
  }

  private func read(_ place: RecordPlace, _ question: DiskQuestion) {
    reading.run(question.hash) {
      if question.lifetime.isEnded { return }
      do {
        self.take(try place.read(for: question.key), place, question)
      } catch {
        question.done(.failure(CacheError(disk: error, self.folder, key: question.key)))
      }
    }
  }

  private func take(
    _ reading: StoredRecord.Reading, _ place: RecordPlace, _ question: DiskQuestion
  ) {
    switch reading {
    case .damaged: dropDamaged(place, question)
    case .ofOtherKey: miss(question)
    case .whole(let record):
      if record.isExpired(at: options.now()) {
        if drop(place, question, { $0.expirations += 1 }) { return miss(question) }
        return ask(question.key, question.lifetime, question.done)
      }
      switch record.content {
      case .value(let value): deliver(value, record, question)
      case .file(let file): readFile(file, record, place, question)
      }
    }
  }

  private func readFile(
    _ file: LargeValue, _ record: StoredRecord, _ place: RecordPlace?, _ question: DiskQuestion
  ) {
    reading.run(question.hash) {
      if question.lifetime.isEnded { return }
      do {
        if let value = try self.folder.readLargeValue(file) {
          self.deliver(value, record, question)
        } else if let place {
          self.dropDamaged(place, question)
        } else {
          // It has been written, or something else has been told, since.
          self.ask(question.key, question.lifetime, question.done)
        }
      } catch {
        question.done(.failure(CacheError(disk: error, self.folder, key: question.key)))
      }
    }
  }

  private func deliver(_ value: Data, _ record: StoredRecord, _ question: DiskQuestion) {
    let opened = options.form.opened(value, for: question.key, version: record.schema)
    guard let opened else { return miss(question) }
    question.done(
      .success(
        DiskAnswer(value: opened, storedAt: record.storedAt, validator: record.validator)))
  }

  /// What was counted as a hit is none.
  private func miss(_ question: DiskQuestion) {
    state.withLock { state in
      state.index.count {
        $0.hits -= 1
        $0.misses += 1
      }
    }
    question.done(.success(nil))
  }

  private func dropDamaged(_ place: RecordPlace, _ question: DiskQuestion) {
    guard drop(place, question, { $0.damages += 1 }) else {
      // Something was told meanwhile, or the record was moved.
      return ask(question.key, question.lifetime, question.done)
    }
    miss(question)
  }

  /// Forgets a record; false if there is another one in its place by now.
  private func drop(
    _ place: RecordPlace, _ question: DiskQuestion, _ count: (inout DiskStatistics) -> Void
  ) -> Bool {
    forget(question.hash, at: place.spot, key: question.key, count)
  }
}

/// What is asked for, by whom.
struct DiskQuestion: Sendable {
  let key: String
  let hash: KeyHash
  let lifetime: Lifetime
  let done: DiskStore.Done

  init(key: String, lifetime: Lifetime, done: @escaping DiskStore.Done) {
    self.key = key
    hash = KeyHash(of: key)
    self.lifetime = lifetime
    self.done = done
  }
}

extension StoredRecord {
  /// Whether its time is over; what is from the future has none left: it is not known how long ago it
  /// was stored.
  func isExpired(at now: WallTime) -> Bool {
    expiresAt <= now || expiresAt != .never && storedAt.isAfter(now)
  }
}
