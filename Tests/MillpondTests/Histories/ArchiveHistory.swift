import Foundation
import MillpondCore
import MillpondEntityArchive
import MillpondSignals
import MillpondTesting

@testable import Millpond

/// A random program of transactions on an archived store, whose process is killed at some call.
///
/// The reference is a list of the store's contents after each commit: the next process restores one
/// of them, and none earlier than the last completed flush.
struct ArchiveHistory {
  enum Step: Sendable, Equatable {
    /// Sets entities to the number of the transaction, and removes others.
    case update(sets: [Int], removals: [Int])
    case restore
    case flush
    case kill(afterCalls: Int)
  }

  struct Page: Entity, Codable {
    let id: String
    let number: Int
    let text: String

    /// The page of a number, as it is in a transaction: its text is mostly short, and rarely larger
    /// than a piece of the archive.
    init(_ id: Int, in number: Int) {
      self.id = Self.key(id, in: number)
      self.number = number
      var random = SeededGenerator(seed: UInt64(number * 4 + id))
      let magnitude = Int.random(in: 0..<300, using: &random)
      let size = magnitude > 21 ? 0 : Int.random(in: 0...1 << magnitude, using: &random)
      text = String(repeating: "-", count: size)
    }

    /// The identifier of a number: an equal text of other bytes in every other transaction.
    static func key(_ id: Int, in number: Int) -> String {
      number.isMultiple(of: 2) ? "pag\u{E9} \(id)" : "page\u{301} \(id)"
    }
  }

  typealias Pages = [Int: Int]

  /// A search for programs after which an archive restores what it must not.
  static let search = ProgramSearch<String, Step>(
    ProgramMix(
      [
        update, update, update, update, kill, kill, { _ in .flush }, { _ in .restore },
      ], lengths: 3...12), timeLimit: .seconds(1)
  ) { steps, seed, _ in
    guard let finding = await finding(steps) else { return [] }
    return [Breach("restored", seed: seed, steps: steps.map { "\($0)" }, finding)]
  }

  private static func update(_ choices: inout Choices) -> Step {
    let ids = { (choices: inout Choices) in
      (0..<choices.number(below: 3)).map { _ in choices.number(below: 4) }
    }
    return .update(sets: ids(&choices), removals: ids(&choices))
  }

  private static func kill(_ choices: inout Choices) -> Step {
    .kill(afterCalls: choices.number(below: 12))
  }

  /// Performs the steps, and returns the fault; nil if there is none.
  static func finding(_ program: [Step]) async -> String? {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("millpond-archive-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    var life = Life(folder, [[:]])
    for (number, step) in (program + [.kill(afterCalls: 1_000)]).enumerated() {
      switch step {
      case .update(let sets, let removals): life.update(number, sets, removals)
      case .restore: _ = try? await life.archive.restored.value
      case .flush: await life.flush()
      case .kill(let calls):
        let allowed = await life.end(afterCalls: calls)
        let next = Life(folder, [[:]])
        _ = try? await next.archive.restored.value
        let found = next.pages
        guard allowed.contains(found) else {
          return "restored \(found), allowed are \(allowed)"
        }
        _ = await next.end(afterCalls: 0)
        life = Life(folder, [found])
      }
    }
    _ = await life.end(afterCalls: 0)
    return nil
  }

  /// One process.
  struct Life {
    let calls = FaultyCalls()
    let store = EntityStore()
    let disk: DiskCache
    let archive: EntityArchive

    /// The contents after each commit, from the last that is known to be on disk.
    private var states: [Pages]

    init(_ folder: URL, _ states: [Pages]) {
      self.states = states
      disk = DiskCache(
        directory: folder, DiskOptions(byteLimit: 4 << 20), FileSystem(calls))
      archive = EntityArchive(
        of: store, in: disk, types: [ArchivedType(Page.self, named: "page")])
    }

    var pages: Pages {
      var pages: Pages = [:]
      for id in 0..<4 { pages[id] = store.get(Reference<Page>(Page.key(id, in: id)))?.number }
      return pages
    }

    mutating func update(_ number: Int, _ sets: [Int], _ removals: [Int]) {
      var pages = states.last ?? [:]
      store.update { transaction in
        for id in removals { transaction.remove(Reference<Page>(Page.key(id, in: number))) }
        for id in sets { transaction.set(Page(id, in: number)) }
      }
      for id in removals { pages[id] = nil }
      for id in sets { pages[id] = number }
      states.append(pages)
    }

    mutating func flush() async {
      guard (try? await archive.flush().value) != nil else { return }
      states = Array(states.suffix(1))
    }

    /// Kills the process after `count` more changing calls, and returns the permitted contents.
    func end(afterCalls count: Int) async -> [Pages] {
      calls.inject(
        .death(isHalfDone: count.isMultiple(of: 2)), after: count, of: FaultyCalls.Call.effects)
      _ = try? await archive.restored.value
      _ = try? await archive.flush().value
      calls.die()
      _ = try? await disk.close().value
      return states
    }
  }
}
