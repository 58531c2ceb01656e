import Foundation
import LoopbackServer
import Millpond

/// A cache whose entries are signals: an assigned download, a polled value, a removal.
struct SignalShow: Sendable {
  private let screen: Screen
  private let requests = Locked(0)

  init(_ screen: Screen) {
    self.screen = screen
  }

  /// - Returns: Whether everything was shown as intended.
  func run() async throws -> Bool {
    let server = try LoopbackServer(latency: .milliseconds(150)) { _ in
      let number = requests.withLock { count in
        count += 1
        return count
      }
      return Response(body: [UInt8]("level \(number)".utf8))
    }
    defer { server.stop() }
    guard let url = URL(string: server.baseURL + "/pond") else { return false }
    let cache = MemoryCache<String, String>(countLimit: 100)
    let isShared = await share(cache, url)
    let isFollowed = await poll(cache, url)
    return isShared && isFollowed && remove(from: cache)
  }

  /// One download for three callers, and its value for the fourth.
  private func share(_ cache: MemoryCache<String, String>, _ url: URL) async -> Bool {
    screen.title(
      "cache[\"pond\"] = download: it runs when it is first subscribed to, once for all.")
    cache["pond"] = download(url)
    screen.say("nothing has run: \(requestCount) requests")
    let answers = await withTaskGroup(of: String?.self) { group in
      for _ in 0..<3 { group.addTask { try? await cache.get("pond").value } }
      return await group.reduce(into: [String?]()) { $0.append($1) }
    }
    screen.say("three callers: \(answers.compactMap { $0 }), \(requestCount) request")
    let later = try? await cache.signal(for: "pond") { download(url) }.value
    screen.say("a later caller: \(later ?? "nothing"), \(requestCount) request")
    return answers == ["level 1", "level 1", "level 1"] && later == "level 1" && requestCount == 1
  }

  /// A value that is fetched again and again, for all callers that ask meanwhile.
  private func poll(_ cache: MemoryCache<String, String>, _ url: URL) async -> Bool {
    screen.title("cache[\"pond\"] = a polled value: whoever asks follows it to its end.")
    cache["pond"] = Signal.interval(.milliseconds(200)).take(4).flatMap { _ in download(url) }
    let early = Locked([String]())
    let end = Signal<Void>.create { observer, lifetime in
      cache["pond"]?.onNext { level in
        early.withLock { $0.append(level) }
        screen.say("early: \(level)")
      }.ignoreValues(as: Void.self).run(observer, lifetime)
    }.started()
    _ = try? await Signal.timer(after: .milliseconds(500)).valueIfAny
    let late = Locked([String]())
    let lateEnd = cache["pond"]?.onNext { level in
      late.withLock { $0.append(level) }
      screen.say("late:  \(level)")
    }
    _ = try? await lateEnd?.last().valueIfAny
    _ = try? await end.valueIfAny
    let last = cache.peek("pond")
    screen.say("the last value stays: \(last ?? "nothing")")
    return early.withLock { $0.last } == last && late.withLock { $0.last } == last && last != nil
  }

  private func remove(from cache: MemoryCache<String, String>) -> Bool {
    screen.title("cache[\"pond\"] = nil: it is gone.")
    cache["pond"] = nil
    screen.say("the entry is \(cache["pond"] == nil ? "gone" : "still there")")
    return cache["pond"] == nil
  }

  private func download(_ url: URL) -> Signal<String> {
    HTTPSource().get(url).map { String(decoding: $0, as: UTF8.self) }
  }

  private var requestCount: Int {
    requests.withLock { $0 }
  }
}
