import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting

@testable import Millpond

/// A store with many writes during a fault, checked with honest calls afterwards.
final class TortureRun {
  enum Step {
    /// Sets in one batch.
    case sets([(key: String, count: Int)])

    /// Sets that are on disk together or not at all.
    case group([(key: String, count: Int)])
    case remove(String)
    case removeAll

    /// A removal of everything that these sets, made after it, overtake.
    case lateRemoveAll([(key: String, count: Int)])
    case flush(Durability)
  }

  let scene = DiskScene()
  let calls = FaultyCalls()
  private let byteLimit: Int

  /// Whether a failed write may be on disk nevertheless, since it could not be undone.
  private let isDeadly: Bool
  private var record = TortureRecord()
  private(set) var complaints: [String] = []

  init(byteLimit: Int, isDeadly: Bool) {
    self.byteLimit = byteLimit
    self.isDeadly = isDeadly
  }

  /// Performs all steps, and waits for the outcomes of each.
  func run(_ steps: [Step]) async throws {
    let cache = scene.open(byteLimit, calls)
    for step in steps {
      try await perform(step, cache)
      if !isDeadly { try await check(cache, "after a step") }
    }
    let statistics = cache.statistics
    record.mayForget = statistics.evictions + statistics.rejections > 0
    try await cache.close().value
  }

  /// Opens the cache again, and checks all values.
  func verify() async throws {
    let limit = byteLimit + 10
    calls.recover()
    let cache = scene.open(byteLimit)
    try await check(cache, "after the opening")
    if !scene.unfinishedFiles.isEmpty { complaints.append("something unfinished was left") }
    var largeCount = 0
    for key in record.keys {
      let count = try await cache.get(key).valueIfAny?.count ?? 0
      if count >= DiskLimits.largeSize { largeCount += 1 }
    }
    if scene.valueFiles.count != largeCount {
      complaints.append("\(scene.valueFiles.count) files for \(largeCount) large values")
    }
    if scene.bytesOnDisk > limit { complaints.append("\(scene.bytesOnDisk) bytes at the opening") }
    try await perform(.sets([("new", 500), ("new large", 70_000), ("small 1", 600)]), cache)
    try await check(cache, "of a cache that is used again")
    try await cache.close().value
    if scene.bytesOnDisk > limit { complaints.append("\(scene.bytesOnDisk) bytes at the end") }
    let last = scene.open(byteLimit)
    try await check(last, "after a clean end")
    try await last.close().value
  }

  private func check(_ cache: DiskCache, _ when: String) async throws {
    let statistics = cache.statistics
    if statistics.evictions + statistics.rejections > 0 { record.mayForget = true }
    var found: [String: Data] = [:]
    for key in record.keys {
      // One call at most fails; if the folder could not be opened, all gets do.
      for _ in 0..<2 {
        let recorder = Recorder<Data>().subscribe(to: cache.get(key))
        try await recorder.ended()
        if recorder.failure != nil { continue }
        found[key] = recorder.values.first
        if let complaint = record.complaint(recorder.values.first, for: key) {
          complaints.append("\(when): \(complaint)")
        }
        break
      }
    }
    complaints += record.complaints(ofGroups: found).map { "\(when): \($0)" }
  }

  private func perform(_ step: Step, _ cache: DiskCache) async throws {
    switch step {
    case .sets(let sets):
      var outcomes: [(String, Int, Signal<Void>)] = []
      for (key, count) in sets {
        let (version, value) = record.set(key, count: count)
        outcomes.append((key, version, cache.set(value, for: key)))
      }
      for (key, version, outcome) in outcomes {
        if (try? await outcome.value) != nil {
          record.acknowledge(key, version)
        } else if !isDeadly {
          record.fail(key, version)
        }
      }
    case .group(let sets):
      var (values, versions): ([String: Data], [String: Int]) = ([:], [:])
      for (key, count) in sets { (versions[key], values[key]) = record.set(key, count: count) }
      record.groups.append(versions)
      let isStored = (try? await cache.set(all: values).value) != nil
      for (key, version) in versions {
        if isStored { record.acknowledge(key, version) }
        if !isStored, !isDeadly { record.fail(key, version) }
      }
    case .remove(let key):
      record.remove(key)
      if (try? await cache.remove(key).value) != nil { record.acknowledge(key) }
    case .removeAll:
      record.removeAll()
      if (try? await cache.removeAll().value) != nil { record.acknowledgeRemovalOfAll() }
    case .lateRemoveAll(let sets):
      let revision = Revision.next()
      record.removeAll()
      try await perform(.sets(sets), cache)
      if (try? await cache.apply(.removeAll(revision)).value) != nil {
        record.acknowledgeRemovalOfAll(before: sets.map(\.key))
      }
    case .flush(let durability):
      _ = try? await cache.flush(durability).value
    }
  }
}
