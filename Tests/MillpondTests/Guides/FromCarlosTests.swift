import Foundation
import LoopbackServer
import Millpond
import MillpondTesting
import Observation
import Testing

/// The code of the page "Coming from Carlos".
@Suite(.timeLimit(.minutes(3))) struct FromCarlosTests {
  // snippet
  struct Product: Codable, Sendable, Equatable {
    var number: String
    var price: Int
  }

  struct Catalogue: Sendable {
    let products: AnyCache<String, Product>

    init(of shop: URL, in folder: URL) {
      let memory = MemoryCache<String, Product>(countLimit: 2_000)
      let disk = DiskCache(directory: folder, byteLimit: .mebibytes(50))
      let network = HTTPSource().mapKeys { (number: String) in
        shop.appending(path: "products/\(number)")
      }
      products = AnyCache(
        memory.onMemoryPressure(.ofSystem())
          .layered(over: disk.mapValues(.json(Product.self)))
          .layered(over: network.mapValues(.json(Product.self)))
          .reusingInFlight())
    }
  }
  // end

  @MainActor static func show(_ catalogue: Catalogue, in row: Row) {
    // snippet
    catalogue.products.get("0815", priority: .high)
      .subscribeOnMain(onNext: { row.show($0) }, onFailed: { row.show($0) })
      .disposed(by: row.bag)
    // end
  }

  // snippet
  func settings(in defaults: @escaping @Sendable () -> UserDefaults) -> AnyCache<String, String> {
    AnyCache(
      get: { key in
        defaults().string(forKey: key).map { .just($0) } ?? .empty
      },
      set: { value, key in
        defaults().set(value, forKey: key)
        return .just(())
      },
      remove: { key in
        defaults().removeObject(forKey: key)
        return .just(())
      })
  }
  // end

  @MainActor @Observable final class Row {
    var texts: [String] = []
    let bag = DisposableBag()

    func show(_ product: Product) { texts.append("\(product.price)") }
    func show(_ error: any Error) { texts.append("\(type(of: error))") }
  }

  private let scene = GuideScene()

  private func shop(_ body: String) throws -> LoopbackServer {
    try LoopbackServer { _ in Response(body: Array(body.utf8)) }
  }

  @MainActor
  @Test func `a product is fetched once for two rows, and decoded from the disk later`()
    async throws
  {
    let shop = try shop(#"{"number":"0815","price":5}"#)
    let catalogue = Catalogue(of: try shop.url("/"), in: scene.folder)
    let rows = [Row(), Row()]

    for row in rows { Self.show(catalogue, in: row) }
    await observed { rows.allSatisfy { $0.texts == ["5"] } }
    try await catalogue.products.flush()

    let later = Catalogue(of: try shop.url("/"), in: scene.folder)
    #expect(try await later.products.get("0815").value.price == 5)
    #expect(shop.exchanges.count == 1)
  }

  @MainActor
  @Test func `a bad answer is a failure, and a product of an older form is fetched anew`()
    async throws
  {
    let broken = try shop("no JSON")
    let row = Row()
    Self.show(Catalogue(of: try broken.url("/"), in: scene.folder), in: row)
    await observed { !row.texts.isEmpty }
    #expect(row.texts == ["CacheError"])

    let disk = DiskCache(directory: scene.folder, byteLimit: .mebibytes(50))
    try await disk.set(Data("{}".utf8), for: "0815").value
    let shop = try shop(#"{"number":"0815","price":7}"#)

    let catalogue = Catalogue(of: try shop.url("/"), in: scene.folder)
    #expect(try await catalogue.products.get("0815").value.price == 7)
  }

  @Test func `settings are found, missed and removed`() async throws {
    let name = "millpond-\(UUID().uuidString)"
    let settings = settings { UserDefaults(suiteName: name) ?? .standard }
    defer { UserDefaults.standard.removePersistentDomain(forName: name) }

    settings.set("dark", for: "theme")
    #expect(try await settings.get("theme").value == "dark")
    settings.remove("theme")

    #expect(try await settings.get("theme").valueIfAny == nil)
  }
}
