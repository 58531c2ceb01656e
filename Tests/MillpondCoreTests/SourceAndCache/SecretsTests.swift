import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// No error, event or description shows what is secret in a URL.
@Suite struct SecretsTests {
  static let url = "https://ada:pw@example.com/photo?token=SECRET&SECRET#SECRET"
  static let shown = "https://example.com/photo?token="

  let clock = ManualClock()
  let origin = TestOrigin<String, Int>()

  @Test(arguments: [
    (url, shown), ("(\(url)), \(url): no", "(\(shown)), \(shown): no"),
    ("Photo(url: \(url), page: 7)", "Photo(url: \(shown), page: 7)"),
    ("photo?token=SECRET -- https://ada:pw@example.com/", "photo?token= -- https://example.com/"),
    ("/photo?token=SECRET&page=SECRET", "/photo?token=&page="),
    ("redis://:SECRET@host:6379/0", "redis://host:6379/0"),
    ("https://proxy.org/https://ada:pw@example.com/", "https://proxy.org/https://example.com/"),
    ("https://a:p@b:SECRET@example.com", "https://example.com"),
    ("//ada:pw@example.com", "//example.com"),
    ("https://example.com?SECRET", "https://example.com"),
    ("/done#access_token=SECRET", "/done"),
    ("https://example.com/@ada", "https://example.com/@ada"),
    ("really?", "really?"), ("issue #7", "issue #7"), ("ada@example.com", "ada@example.com"),
    ("user 7", "user 7"), ("", ""),
  ])
  func `of a URL in a text only scheme, host, path and names of the query stay`(
    text: String, expected: String
  ) {
    #expect(text.withoutSecrets == expected)
    #expect(expected.withoutSecrets == expected)
  }

  @Test func `the text of a key is bounded`() {
    let long = String(repeating: "a", count: 1_000) + Self.url
    #expect(String(withoutSecrets: long).count == 500)
  }

  /// The failures that name the key of a get or of a write.
  enum Failure: CaseIterable {
    case deadline, timeout, limit, rate, condition, circle, reloadedCircle, scope, shutDown
    case partlyStored, partlyWritten, undecodable, lookUp

    func message(_ origin: TestOrigin<String, Int>, _ clock: ManualClock) -> String? {
      let refusing = TestCache<String, Int>()
      refusing.failChanges(of: SecretsTests.url, with: SignalError.empty)
      switch self {
      case .deadline:
        return failure(origin.get(SecretsTests.url, deadline: .after(.seconds(1), clock: clock))) {
          clock.advance(by: .seconds(1))
        }
      case .timeout:
        return failure(
          origin.timingOut(after: .seconds(1), clock: clock).get(SecretsTests.url)
        ) { clock.advance(by: .seconds(1)) }
      case .limit:
        let source = origin.limited(to: 1, maxWaiting: 0)
        source.get("other").subscribe()
        return failure(source.get(SecretsTests.url))
      case .rate:
        let source = origin.rateLimited(to: 1, per: .seconds(60), maxWaiting: 0, clock: clock)
        source.get("other").subscribe()
        return failure(source.get(SecretsTests.url))
      case .condition: return failure(origin.conditioned { _ in false }.get(SecretsTests.url))
      case .circle: return failure(circle { $0.reusingInFlight() }.get(SecretsTests.url))
      case .reloadedCircle:
        return failure(
          circle { $0.remembered(in: MemoryCache(countLimit: 1), FreshnessPolicy()) }
            .get(SecretsTests.url, freshness: .reload))
      case .scope:
        let scope = CacheScope()
        let cache = AnyCache(origin).scoped(to: scope)
        return failure(cache.get(SecretsTests.url)) { scope.end() }
      case .shutDown:
        let source = origin.stoppable()
        source.shutDown(deadline: .after(.zero, clock: clock))
        return failure(source.get(SecretsTests.url))
      case .partlyStored:
        return failure(
          MemoryCache(countLimit: 9).layered(over: refusing).set(1, for: SecretsTests.url))
      case .partlyWritten: return failure(refusing.set(all: [SecretsTests.url: 1]))
      case .undecodable:
        let source = FunctionSource<String, Int>.sync { _ in 1 }
        return failure(
          source.mapValues(encode: { $0 }, decode: { (_: Int) -> Int in throw SignalError.empty })
            .get(SecretsTests.url))
      case .lookUp: return failure(origin.conditioned { _ in false }.lookUp(SecretsTests.url))
      }
    }

    /// A source whose work gets its own key.
    private func circle<Shared: Source<String, Int>>(
      _ share: (FunctionSource<String, Int>) -> Shared
    ) -> Shared {
      let itself = Locked<Shared?>(nil)
      let source = share(
        FunctionSource.signal { key in itself.withLock { $0 }?.get(key) ?? .empty })
      itself.withLock { $0 = source }
      return source
    }

    private func failure(
      _ signal: Signal<some Sendable>, after act: () -> Void = {}
    ) -> String? {
      let recorder = Recorder<String>().subscribe(to: signal.map { "\($0)" })
      act()
      return recorder.failure.map { "\($0)" }
    }
  }

  @Test(arguments: Failure.allCases)
  func `an error names its key without the secrets of a URL`(failure: Failure) throws {
    let message = try #require(failure.message(origin, clock))

    #expect(message.contains(Self.shown))
    for secret in ["ada", "pw@", "SECRET"] { #expect(!message.contains(secret)) }
  }

  @Test func `an underlying error and an event are described without the secrets of a URL`() throws
  {
    struct Trouble: Error { let url: String }
    let error = CacheError.unavailable(layer: "disk", underlying: Trouble(url: Self.url))
    let event = CacheEvent(.failed(Trouble(url: Self.url)), layer: "disk", key: Self.url)
    let shared = origin.reusingInFlight()
    shared.get(Self.url).subscribe()
    let flight = try #require(AnyCache(shared).flights.first)

    for text in ["\(error)", "\(event)", "\(flight)"] {
      #expect(text.contains("https://example.com/photo?token="))
      #expect(!text.contains("SECRET") && !text.contains("ada"))
    }
  }
}
