import Foundation
import LoopbackServer
import Millpond
import MillpondTesting
import Testing

/// The code of the page "A list of pictures", and its promises.
@Suite(.timeLimit(.minutes(3))) struct PictureListPageTests {
  /// A picture that is as many pixels wide and high as its bytes say.
  struct Thumbnail: Sendable, Equatable {
    let side: Int
    var byteCount: Int { side * side * 4 }

    init(decoding data: Data, longestSide: Int) async throws {
      guard let byte = data.first, byte > 0 else { throw Unreadable() }
      side = min(Int(byte), longestSide)
    }
  }

  // snippet
  struct PictureStore: Sendable {
    let files: AnyCache<URL, Data>
    let thumbnails: AnyCache<URL, Thumbnail>

    init(in folder: URL, pressure: Signal<MemoryPressure> = .ofSystem()) {
      let memory = MemoryCache<URL, Thumbnail>(costLimit: .mebibytes(64), cost: \.byteCount)
      let disk = DiskCache(directory: folder, byteLimit: .mebibytes(256))
      let network = HTTPSource()
        .limited(to: 6, reserved: 2)
        .retrying(.backoff(attempts: 3, from: .milliseconds(200), upTo: .seconds(5)).onlyTransient)

      let files = AnyCache(disk.mapKeys(\.absoluteString).layered(over: network))
      let decoded = files.mapValues(asynchronously: { data in
        try await Thumbnail(decoding: data, longestSide: 120)
      })
      self.files = files
      thumbnails = AnyCache(
        memory.onMemoryPressure(pressure).layered(over: decoded).reusingInFlight())
    }
  }
  // end

  // snippet
  @MainActor final class PictureRow {
    let picture = SignalState<Thumbnail>()

    func appear(_ url: URL, in store: PictureStore) {
      picture.follow(store.thumbnails.get(url, priority: .high))
    }

    func disappear() {
      picture.clear()
    }
  }
  // end

  static func prefetch(_ urls: [URL], in store: PictureStore) -> Disposable {
    // snippet
    let ahead = store.thumbnails.prefetch(urls).subscribe()
    // end
    return ahead
  }

  private let scene = DiskScene()
  private let hold = ResponseHold()
  private let pressure = PublishSubject<MemoryPressure>()

  private func origin(side: UInt8 = 200) throws -> LoopbackServer {
    try LoopbackServer { [hold] _ in Response(body: [side, 1, 2]).held(by: hold) }
  }

  private func store() -> PictureStore {
    PictureStore(in: scene.folder, pressure: pressure.signal)
  }

  @MainActor
  @Test func `rows of one picture share a request, and a hit is there inside the call`()
    async throws
  {
    let origin = try origin()
    let url = try origin.url("/a")
    let store = store()
    let rows = (0..<10).map { _ in PictureRow() }
    let ahead = Self.prefetch([url], in: store)

    for row in rows { row.appear(url, in: store) }
    #expect(await origin.eventually { $0.exchanges.count == 1 })
    rows[0].disappear()
    ahead.dispose()
    hold.release()

    let thumbnail = try await store.thumbnails.get(url).value
    for row in rows.dropFirst() { await observed { row.picture.value == thumbnail } }
    #expect(thumbnail.side == 120)
    #expect(rows[0].picture.value == nil)
    rows[0].appear(url, in: store)
    #expect(rows[0].picture.value == thumbnail)
    #expect(origin.exchanges.count == 1)
  }

  @MainActor
  @Test func `the last row to leave closes the connection`() async throws {
    let origin = try origin()
    let url = try origin.url("/a")
    let store = store()
    let rows = [PictureRow(), PictureRow()]
    for row in rows { row.appear(url, in: store) }
    #expect(await origin.eventually { $0.exchanges.count == 1 })

    for row in rows { row.disappear() }

    #expect(await origin.wasClosedByClient())
    #expect(rows.allSatisfy { $0.picture.value == nil && $0.picture.error == nil })
  }

  @Test func `under memory pressure the disk answers instead of the network`() async throws {
    hold.release()
    let origin = try origin()
    let url = try origin.url("/a")
    let store = store()
    _ = try await store.thumbnails.get(url).value
    #expect(store.thumbnails.now(url, Lookup()) != nil)

    pressure.next(.critical)

    #expect(store.thumbnails.now(url, Lookup()) == nil)
    #expect(try await store.thumbnails.get(url).value.side == 120)
    #expect(origin.exchanges.count == 1)
  }

  @Test func `a file that is not a picture fails its get, and is fetched again once it is removed`()
    async throws
  {
    hold.release()
    let origin = try origin(side: 0)
    let url = try origin.url("/a")
    let store = store()

    await #expect(throws: Unreadable.self) { try await store.thumbnails.get(url).value }
    store.files.remove(url)
    await #expect(throws: Unreadable.self) { try await store.thumbnails.get(url).value }

    #expect(origin.exchanges.count == 2)
  }
}
