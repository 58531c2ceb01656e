import Foundation
import Millpond
import MillpondTesting
import Synchronization
import Testing

/// The code of the page "Writing a source or a cache".
@Suite(.timeLimit(.minutes(3))) struct WritingASourceOrACacheTests {
  struct Call: Sendable {
    let handle: Disposable
    func cancel() { handle.dispose() }
  }

  struct API: Sendable {
    let names = TestSource<String>()

    func name(of id: Int) async throws -> String { "name \(id)" }

    @discardableResult
    func load(
      _ id: Int, _ answer: @escaping @Sendable (Result<String, any Error>) -> Void
    ) -> Call {
      Call(
        handle: names.signal.subscribe(
          onNext: { answer(.success($0)) }, onFailed: { answer(.failure($0)) }))
    }
  }

  static func functions(
    _ api: API
  ) -> (FunctionSource<Int, String>, FunctionSource<Int, String>) {
    // snippet
    let names = FunctionSource { (id: Int) in try await api.name(of: id) }
    let loaded = FunctionSource<Int, String>.callback { id, answer in api.load(id, answer) }
    // end
    return (names, loaded)
  }

  // snippet
  struct Names: Source {
    let api: API

    func get(_ id: Int, _ lookup: Lookup) -> Signal<String> {
      .create { observer, lifetime in
        let call = api.load(id) { result in
          switch result {
          case .success(let name):
            observer.next(name)
            observer.completed()
          case .failure(let error): observer.failed(error)
          }
        }
        lifetime.onEnd { call.cancel() }
      }
    }
  }
  // end

  /// A dictionary under a lock.
  final class Table: Sendable {
    private let values = Mutex<[String: Int]>([:])

    subscript(key: String) -> Int? {
      get { values.withLock { $0[key] } }
      set { values.withLock { $0[key] = newValue } }
    }

    func removeAll(where isRemoved: (String) -> Bool) {
      let keys = values.withLock { Array($0.keys) }.filter(isRemoved)
      values.withLock { for key in keys { $0[key] = nil } }
    }
  }

  // snippet
  func shelf(_ table: Table) -> AnyCache<String, Int> {
    AnyCache(
      get: { key in table[key].map { .just($0) } ?? .empty },
      set: { value, key in
        table[key] = value
        return .just(())
      },
      remove: { key in
        table[key] = nil
        return .just(())
      },
      removeAll: {
        table.removeAll { _ in true }
        return .just(())
      },
      removeMatching: { isRemoved in
        table.removeAll(where: isRemoved)
        return .just(())
      })
  }
  // end

  @Test func `functions and a type answer, and leaving cancels the call`() async throws {
    let api = API()
    let (names, loaded) = Self.functions(api)
    #expect(try await names.get(7).value == "name 7")

    let callers = [loaded.get(7), Names(api: api).get(7)].map {
      Recorder<String>().subscribe(to: $0)
    }
    api.names.next("Ada")
    #expect(callers.allSatisfy { $0.values == ["Ada"] && $0.isCompleted })

    let other = API()
    let caller = Recorder<String>().subscribe(to: Names(api: other).get(7))
    caller.dispose()
    #expect(other.names.disposals == 1)
  }

  // snippet
  @Test func `the shelf keeps the laws of caches`() async {
    let laws = CacheLaws(keys: ["a", "b", "c"], values: [1, 2, 3, 4]) { shelf(Table()) }
    let breaches = await laws.breaches()
    #expect(breaches.isEmpty)
  }
  // end
}
