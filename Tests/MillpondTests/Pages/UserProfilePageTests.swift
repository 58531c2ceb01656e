import Foundation
import Millpond
import MillpondTesting
import Testing

/// The code of the page "A user's profile, refreshed by pull", and its promises.
@MainActor
@Suite(.timeLimit(.minutes(3))) struct UserProfilePageTests {
  struct Profile: Codable, Sendable, Equatable {
    var name: String
  }

  typealias Profiles = MultiplexerMap<Int, Profile>

  static func profiles(
    from api: some Source<Int, Profile>, in folder: URL, _ session: CacheScope
  ) -> Profiles {
    // snippet
    let profiles = MultiplexerMap(
      over: api,
      freshness: FreshnessPolicy(freshFor: .minutes(5), stale: .atOnce),
      persistence: .disk("profiles", in: folder),
      scope: session)
    // end
    return profiles
  }

  // snippet
  @MainActor final class ProfileScreen {
    let pull = PublishSubject<Void>()
    let profile: ResourceModel<Profile>

    init(of id: Int, in profiles: MultiplexerMap<Int, Profile>) {
      profile = ResourceModel(
        showing: profiles.observe(id, every: .minutes(1), refreshingOn: pull.signal))
    }

    var title: String { profile.value?.name ?? "" }
    var notice: String? { profile.error == nil ? nil : "Not up to date" }
  }
  // end

  static func refresh(_ id: Int, in profiles: Profiles) {
    // snippet
    profiles.refresh(id)  // soft: fetches now; the old value stays usable meanwhile
    profiles.markAllStale()  // soft: the next get of each key fetches
    profiles.remove(id)  // hard: the old value is gone, in memory and on disk
    // end
  }

  static func signOut(_ session: CacheScope) async throws {
    // snippet
    try await session.end()
    // end
  }

  private let scene = DiskScene()
  private let session = CacheScope()
  private let api = TestOrigin<Int, Profile>()
  private let ada = Profile(name: "Ada")

  private func profiles() -> Profiles {
    Self.profiles(from: api, in: scene.folder, session)
  }

  @Test func `all screens of a profile share each fetch, and the last to leave cancels it`()
    async throws
  {
    let profiles = profiles()
    var screens = (0..<3).map { _ in ProfileScreen(of: 1, in: profiles) }
    try await api[1].subscriptions(count: 1)
    await observed { screens.allSatisfy { $0.profile.isLoading } }

    screens.removeAll()

    try await api[1].disposals(count: 1)
    #expect(api[1].subscriptions == 1)
  }

  @Test func `the next start shows what was stored, and fetches nothing while it is fresh`()
    async throws
  {
    do {
      let first = profiles()
      first.set(ada, for: 1)
      try await first.flush()
    }

    let screen = ProfileScreen(of: 1, in: profiles())

    await observed { screen.title == "Ada" }
    #expect(api[1].subscriptions == 0)
  }

  @Test func `a pull fetches anew, and offline the last value stays beside the error`()
    async throws
  {
    let profiles = profiles()
    try await profiles.set(ada, for: 1).value
    let screens = (0..<2).map { _ in ProfileScreen(of: 1, in: profiles) }
    await observed { screens.allSatisfy { $0.title == "Ada" } }

    screens[0].pull.next(())
    try await api[1].subscriptions(count: 1)
    api[1].next(Profile(name: "Countess"))
    api[1].completed()
    await observed { screens.allSatisfy { $0.title == "Countess" } }

    screens[1].pull.next(())
    try await api[1].subscriptions(count: 2)
    api[1].failed(URLError(.notConnectedToInternet))

    await observed { screens.allSatisfy { $0.notice != nil } }
    #expect(screens.map(\.title) == ["Countess", "Countess"])
  }

  @Test func `a soft refresh keeps the old value until the new one is there, a hard one does not`()
    async throws
  {
    let profiles = profiles()
    try await profiles.set(ada, for: 1).value
    let screen = ProfileScreen(of: 1, in: profiles)
    await observed { screen.title == "Ada" }

    profiles.refresh(1)
    try await api[1].subscriptions(count: 1)
    #expect(screen.title == "Ada")
    Self.refresh(1, in: profiles)

    await observed { screen.profile.value == nil }
    #expect(profiles.current(1) == nil)
  }

  @Test func `after a sign-out no screen, no memory and no file has the profile`() async throws {
    let profiles = profiles()
    try await profiles.set(ada, for: 1).value
    let screen = ProfileScreen(of: 1, in: profiles)
    await observed { screen.title == "Ada" }

    try await Self.signOut(session)

    await observed { screen.profile.error is CacheError }
    #expect(screen.profile.value == nil)
    #expect(profiles.current(1) == nil)
    #expect(try await self.profiles().get(1, freshness: .cachedOnly).valueIfAny == nil)
  }
}
