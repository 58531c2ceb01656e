import Foundation
import Millpond
import MillpondTesting
import Testing

/// The code of the page "Layers".
@Suite(.timeLimit(.minutes(3))) struct LayersTests {
  struct Profile: Codable, Sendable, Equatable {
    var name: String
  }

  typealias Memory = MemoryCache<String, Data>
  typealias Disk = TestCache<String, Data>
  typealias Network = TestOrigin<String, Data>

  static func compose(
    _ memory: Memory, _ disk: Disk, _ network: Network
  ) -> [AnyCache<String, Data>] {
    // snippet
    let pictures = memory.layered(over: disk.layered(over: network))
    // end
    // snippet
    let erased = AnyCache(layering: [AnyCache(memory), AnyCache(disk), AnyCache(network)])
    // end
    return [AnyCache(pictures), erased]
  }

  static func profiles(
    _ people: MemoryCache<Int, Profile>, _ disk: Disk
  ) -> some Cache<Int, Profile> {
    // snippet
    let stored = disk.mapKeys { (id: Int) in "profile/\(id)" }.mapValues(.json(Profile.self))
    let profiles = people.layered(over: stored)
    // end
    return profiles
  }

  static func inPassing(
    _ pictures: some Cache<String, Data>, _ draw: @escaping @Sendable (String) async throws -> Data
  ) async throws -> (Bool, Data, Data?) {
    // snippet
    let isThere = try await pictures.contains("a").value
    let drawn = try await pictures.get("a") { try await draw("a") }.value  // and stores it
    let longer = try await pictures.update("a") { ($0 ?? Data()) + [0] }.value
    // end
    return (isThere, drawn, longer)
  }

  static func store(
    _ picture: Data, in pictures: AnyCache<String, Data>, _ bag: DisposableBag,
    _ log: @escaping @Sendable (String) -> Void
  ) {
    // snippet
    let outcome = pictures.set(picture, for: "a")
    outcome.subscribe(onFailed: { log("\($0)") }).disposed(by: bag)
    // end
  }

  private let memory = Memory(countLimit: 10)
  private let disk = Disk()
  private let network = Network()
  private let bag = DisposableBag()
  private let lines = Watched<[String]>([])

  @Test(arguments: 0..<2)
  func `an answer of the network is stored above, however the layers are composed`(_ form: Int) {
    let pictures = Self.compose(memory, disk, network)[form]
    let seen = Recorder<Data>().subscribe(to: pictures.get("a"))

    network["a"].next(Data([1]))
    network["a"].completed()

    #expect(seen.values == [Data([1])])
    #expect(memory.peek("a") == Data([1]))
    #expect(disk.contents == ["a": Data([1])])
  }

  @Test func `a failed write names its layer, and leaves no old value`() {
    let pictures = Self.compose(memory, disk, network)[0]
    pictures.set(Data([1]), for: "a")
    disk.failChanges(of: "a", with: CocoaError(.fileWriteOutOfSpace))

    Self.store(Data([2]), in: pictures, bag) { [lines] line in lines.change { $0.append(line) } }

    #expect(lines.state.count == 1)
    #expect(disk.contents["a"] == nil)
    #expect(memory.peek("a") == Data([2]))
  }

  @Test func `a profile is stored as JSON under its key, and a bad one is a miss`() async throws {
    let people = MemoryCache<Int, Profile>(countLimit: 10)
    let profiles = Self.profiles(people, disk)

    profiles.set(Profile(name: "Ada"), for: 7)
    #expect(disk.contents["profile/7"] == Data(#"{"name":"Ada"}"#.utf8))
    disk.set(Data("no JSON".utf8), for: "profile/8")

    #expect(try await profiles.get(8).valueIfAny == nil)
  }
}
