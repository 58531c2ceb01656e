import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondCore

@Suite struct SourcePrometheusTests {
  final class Client: Sendable {}

  /// A store on a server.
  struct Remote: Cache {
    let client: Client
    var address = "a:1"
    let value: Double

    func get(_ key: String, _ lookup: Lookup) -> Signal<Int> { .empty }

    func apply(_ change: Change<String, Int>) -> Signal<Void> { .empty }

    func topology(for key: String?) -> Topology {
      Topology(.store, "Remote").reporting { [client, address, value] in
        ServerReport(
          of: client, at: address, "fine",
          [
            .init("millpond_test_answers_total", "Answers.", value),
            .init("millpond_test_ready", "Ready.", isCounter: false, value / 4),
          ])
      }
    }
  }

  func text(of remotes: [Remote]) -> String {
    let memory = MemoryCache<String, Int>(countLimit: 5).named("memory")
    memory.set(1, for: "a")
    let monitor = CacheMonitor()
    let source = AnyCache(layering: [AnyCache(memory)] + remotes.map { AnyCache($0) })
      .monitored(by: monitor)
    source.get("a").subscribe()
    return source.prometheusText
  }

  @Test func `gets, sizes and servers are in one text`() {
    let text = text(of: [Remote(client: Client(), value: 3)])

    #expect(text.contains("millpond_gets_total{layer=\"memory\",outcome=\"hit\"} 1\n"))
    #expect(text.contains("millpond_entries{layer=\"memory\"} 1\n"))
    #expect(text.contains("# TYPE millpond_test_answers_total counter\n"))
    #expect(text.contains("millpond_test_answers_total{server=\"a:1\"} 3\n"))
    #expect(text.contains("# TYPE millpond_test_ready gauge\n"))
    #expect(text.contains("millpond_test_ready{server=\"a:1\"} 0.75\n"))
  }

  @Test func `layers with one client are one sample, and two clients of one server are added`() {
    let client = Client()

    let text = text(
      of: [
        Remote(client: client, value: 3), Remote(client: client, value: 3),
        Remote(client: Client(), value: 4), Remote(client: Client(), address: "b:1", value: 8),
      ])

    let samples = text.split(separator: "\n").filter { $0.hasPrefix("millpond_test_answers_total") }
    #expect(
      samples == [
        "millpond_test_answers_total{server=\"a:1\"} 7",
        "millpond_test_answers_total{server=\"b:1\"} 8",
      ])
    #expect(text.split(separator: "\n").count { $0 == "# TYPE millpond_test_ready gauge" } == 1)
  }
}
