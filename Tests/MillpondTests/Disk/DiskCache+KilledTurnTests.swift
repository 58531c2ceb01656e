import Foundation
import MillpondCore
import MillpondSignals
import TestTraits
import Testing

@testable import Millpond

/// A folder that two processes use in turn, one of which is killed at each of its calls to the system.
@Suite(.timeLimit(.minutes(10)), .heavy) struct DiskCacheKilledTurnTests {
  /// The values that a process stores, one step after the other; nil is a removal.
  private static let steps: [[String: Data?]] = [
    ["small": value(1, 300)],
    ["large": value(1, 70_000)],
    ["a": value(1, 20), "b": value(1, 5_000), "c": value(1, 66_000)],
    ["large": value(2, 90_000)],
    ["small": nil],
    ["a": value(2, 20), "b": value(2, 5_000), "c": value(2, 66_000)],
    ["small": value(3, 300)],
    ["large": nil],
  ]

  /// The numbers of the steps after which the process releases the folder.
  private static let releases: Set = [2, 5, 7]

  private static let keys = ["a", "b", "c", "large", "small"]

  private static func value(_ version: UInt8, _ count: Int) -> Data {
    Data(repeating: version, count: count)
  }

  /// Returns the values after a number of steps.
  private static func values(after count: Int) -> [String: Data] {
    steps.prefix(count).reduce(into: [:]) { values, step in
      for (key, value) in step { values[key] = value }
    }
  }

  // MARK: The process that is killed

  private static func takeTurns(in place: SharedFolder) async throws {
    let cache = try place.cacheThatKills()
    for (number, step) in steps.enumerated() {
      let values = step.compactMapValues { $0 }
      if values.isEmpty {
        for key in step.keys { try await cache.remove(key).value }
      } else if values.count == 1 {
        for (key, value) in values { try await cache.set(value, for: key).value }
      } else {
        try await cache.set(all: values).value
      }
      try place.note("\(number + 1)", .confirmed)
      if releases.contains(number) { try await cache.release() }
    }
    try place.note("", .complete)
    place.rendezvous()
    TestPlatform.killThisProcess()
  }

  // MARK: The other processes

  @Test
  func `a folder is whole and free at once when the process that has it is killed at any call`()
    async throws
  {
    let place = SharedFolder("killed", of: TestPlatform.process)
    defer { place.remove() }
    for call in stride(from: 1, to: .max, by: Effort.stride(13)) {
      try place.prepare(killingAt: call, isRendezvous: false)
      try await #require(processExitsWith: .signal(9)) {
        try await DiskCacheKilledTurnTests.takeTurns(
          in: SharedFolder("killed", of: TestPlatform.parentProcess))
      }

      try await Self.check(place, DiskCache(directory: place.cache, byteLimit: .mebibytes(4)), call)
      try await #require(processExitsWith: .success) {
        try await SharedFolder("killed", of: TestPlatform.parentProcess).expectTheOthersValue()
      }
      if place.isThere(.complete) {
        #expect(call > 50)
        break
      }
    }
  }

  @Test
  func `a process that waits for its turn has it at once when the other is killed at any call`()
    async throws
  {
    let place = SharedFolder("waiting", of: TestPlatform.process)
    defer { place.remove() }
    var refusals = 0
    for call in stride(from: 1, to: .max, by: Effort.stride(13)) {
      try place.prepare(killingAt: call, isRendezvous: true)
      async let death = #expect(processExitsWith: .signal(9)) {
        try await DiskCacheKilledTurnTests.takeTurns(
          in: SharedFolder("waiting", of: TestPlatform.parentProcess))
      }
      try await place.wait(for: .stopped)
      let cache = DiskCache(directory: place.cache, byteLimit: .mebibytes(4))
      if try await failure(of: cache.get("small"))?.isInUse == true { refusals += 1 }
      try place.note("", .goOn)
      guard await death != nil else { return }

      try await Self.check(place, cache, call)
      if place.isThere(.complete) {
        #expect(call > 50)
        break
      }
    }
    #expect(refusals > 0)
  }

  /// Reads what the killed process has left, takes a turn, and releases the folder.
  private static func check(_ place: SharedFolder, _ cache: DiskCache, _ call: Int) async throws {
    var found: [String: Data] = [:]
    for key in keys { found[key] = try await cache.get(key).valueIfAny }
    let confirmed = place.content(.confirmed).flatMap { Int($0) } ?? 0
    #expect(
      found == values(after: confirmed) || found == values(after: confirmed + 1),
      "killed at call \(call), after \(confirmed) steps: \(found.mapValues { [Int($0.first ?? 0), $0.count] })"
    )

    try place.note("\(call)", .number)
    try await cache.set(Data("\(call)"), for: "number").value
    try await cache.release()
    let lock = TestPlatform.lock(place.cache.appending(path: Folder.lockName).path)
    #expect(lock != nil)
    lock.map(TestPlatform.unlock)
  }
}

/// A folder for a cache of several processes, and their notes.
private struct SharedFolder {
  enum Note: String, CaseIterable {
    /// The call at which a process is killed.
    case call

    /// Whether it waits there until the other one has asked for the folder.
    case isRendezvous

    /// The number of steps that are confirmed.
    case confirmed

    /// The killed process has come to its end.
    case complete

    /// It is at the call at which it will be killed.
    case stopped

    /// The other one has asked for the folder.
    case goOn

    /// The values that the other one has stored.
    case number
  }

  private let url: URL

  /// The processes know each other by the number of the parent.
  init(_ name: String, of process: Int32) {
    url = FileManager.default.temporaryDirectory
      .appendingPathComponent("millpond-turn-\(process).\(name)")
  }

  var cache: URL { url.appending(path: "cache") }

  func prepare(killingAt call: Int, isRendezvous: Bool) throws {
    remove()
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    try note("\(call)", .call)
    if isRendezvous { try note("", .isRendezvous) }
  }

  func remove() { try? FileManager.default.removeItem(at: url) }

  private func place(_ note: Note) -> URL { url.appending(path: note.rawValue) }

  func note(_ text: String, _ note: Note) throws {
    try Data(text.utf8).write(to: place(note), options: .atomic)
  }

  func content(_ note: Note) -> String? { try? String(contentsOf: place(note), encoding: .utf8) }

  func isThere(_ note: Note) -> Bool { FileManager.default.fileExists(atPath: place(note).path) }

  func wait(for note: Note) async throws {
    while !isThere(note) { try await Task.sleep(for: .milliseconds(1)) }
  }

  /// Blocks the thread until the other process has asked for the folder, if it does so.
  func rendezvous() {
    guard isThere(.isRendezvous) else { return }
    try? note("", .stopped)
    while !isThere(.goOn) { Thread.sleep(forTimeInterval: 0.001) }
  }

  /// A cache whose process is killed before the call whose number is in the folder.
  func cacheThatKills() throws -> DiskCache {
    let toCome = Locked(content(.call).flatMap { Int($0) } ?? 0)
    let calls = FaultyCalls(before: { _ in
      let isLast = toCome.withLock { toCome in
        toCome -= 1
        return toCome == 0
      }
      guard isLast else { return }
      rendezvous()
      TestPlatform.killThisProcess()
    })
    return DiskCache(
      directory: cache, DiskOptions(byteLimit: .mebibytes(4)), FileSystem(calls))
  }

  /// Reads what another process has stored.
  func expectTheOthersValue() async throws {
    let cache = DiskCache(directory: cache, byteLimit: .mebibytes(4))
    let value = try await cache.get("number").value
    #expect(String(decoding: value, as: UTF8.self) == content(.number))
    try await cache.close()
  }
}
