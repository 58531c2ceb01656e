import Foundation
import Millpond
import MillpondTesting
import Testing

/// The code of the page "Coming from Caffeine".
@Suite(.timeLimit(.minutes(3))) struct FromCaffeineTests {
  struct Graph: Sendable, Equatable {
    var edges: [Int]
  }

  // snippet
  struct Graphs<Database: Source<Int, Graph>>: Sendable {
    let memory: MemoryCache<Int, Graph>
    let graphs: Remembered<MemoryCache<Int, Graph>, Database>

    init(_ database: Database, clock: any Clock<Duration> = ContinuousClock()) {
      memory = MemoryCache(costLimit: 1_000_000, clock: clock, cost: \.edges.count)
      graphs = database.remembered(
        in: memory,
        FreshnessPolicy(
          freshFor: .minutes(1), usableFor: .minutes(10), stale: .atOnce),
        clock: clock)
    }
  }
  // end

  struct Metrics: Sendable {
    let causes = PublishSubject<Removal<Int, Graph>.Cause>()
    func count(_ cause: Removal<Int, Graph>.Cause) { causes.next(cause) }
  }

  static func use(
    _ all: Graphs<some Source<Int, Graph>>, of user: Int, _ metrics: Metrics, _ bag: DisposableBag
  ) async throws -> (Graph, Double) {
    let (memory, graphs) = (all.memory, all.graphs)
    // snippet
    memory.removals.subscribe(onNext: { metrics.count($0.cause) }).disposed(by: bag)
    let graph = try await graphs.get(user).value  // a stale one at once; a new one is on its way
    graphs.remove(user)
    let ratio = memory.statistics.hitRatio
    // end
    return (graph, ratio)
  }

  private let clock = ManualClock()
  private let database = TestOrigin<Int, Graph>()
  private let recorder = Recorder<Graph>()

  private func answer(_ edges: [Int]) {
    database[7].next(Graph(edges: edges))
    database[7].completed()
  }

  @Test func `a stale graph is sent at once and refreshed, and an old one is fetched`() {
    let graphs = Graphs(database, clock: clock)
    recorder.subscribe(to: graphs.graphs.get(7))
    answer([1])
    clock.advance(by: .seconds(61))

    let stale = Recorder<Graph>().subscribe(to: graphs.graphs.get(7))
    #expect(stale.values == [Graph(edges: [1])])
    answer([1, 2])
    #expect(stale.values.last == Graph(edges: [1, 2]))

    clock.advance(by: .seconds(601))
    let late = Recorder<Graph>().subscribe(to: graphs.graphs.get(7))
    #expect(late.values.isEmpty)
    answer([3])
    #expect(late.values == [Graph(edges: [3])])
  }

  @Test func `removals have causes, and gets are counted`() async throws {
    let (graphs, metrics, bag) = (Graphs(database, clock: clock), Metrics(), DisposableBag())
    let causes = Recorder<Removal<Int, Graph>.Cause>().subscribe(to: metrics.causes.signal)
    recorder.subscribe(to: graphs.graphs.get(7))
    answer([1])

    let (graph, ratio) = try await Self.use(graphs, of: 7, metrics, bag)

    #expect(graph == Graph(edges: [1]))
    #expect(causes.values == [.removed])
    #expect(ratio == 0.5)
  }
}
