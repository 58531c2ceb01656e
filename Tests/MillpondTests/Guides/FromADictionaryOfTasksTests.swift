import Foundation
import Millpond
import MillpondTesting
import Observation
import Testing

/// The code of the page "Coming from a dictionary of tasks".
@Suite(.timeLimit(.minutes(3))) struct FromADictionaryOfTasksTests {
  struct Profile: Sendable, Equatable, Identifiable {
    let id: Int
    var name: String
  }

  struct API: Sendable {
    let answers = TestOrigin<Int, Profile>()
    func profile(_ id: Int) async throws -> Profile { try await answers[id].signal.value }
  }

  // snippet
  struct Profiles: Sendable {
    let cache: AnyCache<Int, Profile>

    init(_ api: API) {
      let network = FunctionSource { id in try await api.profile(id) }
        .limited(to: 6)
        .retrying(.backoff(attempts: 3, from: .milliseconds(200), upTo: .seconds(5)).onlyTransient)
      let memory = MemoryCache<Int, Profile>(countLimit: 1_000, timeToLive: .minutes(10))
      cache = AnyCache(network.replayed(in: memory))
    }

    func profile(_ id: Int) async throws -> Profile {
      try await cache.get(id).value
    }

    func store(_ profile: Profile) {
      cache.set(profile, for: profile.id)
    }
  }
  // end

  @MainActor static func load(_ profiles: Profiles, into view: ProfileView) {
    // snippet
    let loading = profiles.cache.get(7, priority: .high).subscribeOnMain(
      onNext: { view.show($0) }, onFailed: { view.show($0) })
    loading.dispose()  // when the view disappears
    // end
  }

  @MainActor final class ProfileView {
    var name = ""
    func show(_ profile: Profile) { name = profile.name }
    func show(_ error: any Error) { name = "\(error)" }
  }

  private let api = API()
  private let ada = Profile(id: 7, name: "Ada")

  @Test func `callers share a request, and later ones have the value`() async throws {
    let profiles = Profiles(api)
    let first = Task { try await profiles.profile(7) }
    try await api.answers[7].subscriptions(count: 1)
    let second = Recorder<Profile>().subscribe(to: profiles.cache.get(7))

    api.answers[7].next(ada)

    #expect(try await first.value == ada)
    try await second.ended()
    #expect(try await profiles.profile(7) == ada)
    #expect(api.answers[7].subscriptions == 1)
  }

  @Test func `the request is cancelled when its last caller is`() async throws {
    let profiles = Profiles(api)
    let caller = Task { try await profiles.profile(7) }
    try await api.answers[7].subscriptions(count: 1)

    caller.cancel()

    await #expect(throws: CancellationError.self) { try await caller.value }
    try await api.answers[7].disposals(count: 1)
  }

  @Test func `a profile that is stored during a request stays`() async throws {
    let profiles = Profiles(api)
    let caller = Task { try await profiles.profile(7) }
    try await api.answers[7].subscriptions(count: 1)

    profiles.store(ada)
    api.answers[7].next(Profile(id: 7, name: "old"))

    _ = try await caller.value
    #expect(try await profiles.profile(7) == ada)
  }

  @MainActor
  @Test func `a view that leaves cancels its get`() async throws {
    Self.load(Profiles(api), into: ProfileView())
    // The request is made in a task, which may begin meanwhile, and then ends at once.
    while api.answers.activeRuns > 0 { await Task.yield() }
  }
}
