import Foundation
import Millpond
import MillpondTesting
import Testing

@Suite struct LookUpErrorTests {
  private static let status = TransferError.status(
    code: 503, headers: [:], url: URL(filePath: "/origin"))

  /// An origin that fails.
  private struct Failing: Source {
    let error: any Error

    func get(_ key: Int, _ lookup: Lookup) -> Signal<Int> { .fail(error) }
  }

  @Test(arguments: [URLError(.cannotConnectToHost), status, CancellationError()] as [any Error])
  func `a lookup that fails says as much of its cause as a get`(error: any Error) throws {
    let cache = MemoryCache<Int, Int>(countLimit: 1).layered(over: Failing(error: error))
    var errors: [any Error] = []
    for signal in [cache.get(1).map { _ in }, cache.lookUp(1).map { _ in }] {
      guard case .failed(let error)? = Recorder<Void>().subscribe(to: signal).end else { continue }
      errors.append(error)
    }

    #expect(errors.count == 2)
    #expect(errors.last is CacheError)
    #expect(Set(errors.map(\.isConnectivityError)).count == 1)
    #expect(Set(errors.map(\.isTransient)).count == 1)
    #expect(errors.last?.isTransient == !(error is CancellationError))
  }
}
