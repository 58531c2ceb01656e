import Foundation
import Millpond
import MillpondEntityArchive
import MillpondTesting
import Testing

/// The code of the page "Coming from Pancake".
@MainActor
@Suite(.timeLimit(.minutes(3))) struct FromPancakeTests {
  // snippet
  struct Artist: Entity, Codable {
    let id: Int
    var name: String
  }

  struct Track: Mergeable, Codable {
    let id: Int
    var title: String?
    var seconds: Int?
    var artist: Reference<Artist>

    static let relations: [Relation<Track>] = [Relation(\.artist)]

    func merged(with newer: Track) -> Track {
      Track(
        id: id, title: newer.title ?? title, seconds: newer.seconds ?? seconds,
        artist: newer.artist)
    }
  }
  // end

  // snippet
  @MainActor final class TrackView {
    let text: SignalState<String>

    init(_ id: Int, in store: EntityStore) {
      let changes = store.signal(of: Reference<Track>(id))
      text = SignalState(
        following: changes.map { change in
          guard let track = change.value else { return "gone" }
          return "\(track.title ?? "…") by \(store.get(track.artist)?.name ?? "…")"
        })
    }
  }
  // end

  struct Page {
    var artists = [Artist(id: 1, name: "Clara Wieck")]
    var tracks = [Track(id: 7, title: "Scherzo", artist: Reference(1))]
  }

  struct API {
    let answer = TestSource<Track>()
    func send(_ track: Track) -> Signal<Track> { answer.signal }
  }

  static func store(_ page: Page, in store: EntityStore) {
    // snippet
    store.update { store in  // one commit, one notice for each observer
      for artist in page.artists { store.set(artist) }
      for track in page.tracks { store.set(track) }
    }
    // end
  }

  static func more(_ store: EntityStore, _ api: API, _ renamed: Track) -> EntityQuery<Track> {
    // snippet
    let long = store.query(Track.self, where: { ($0.seconds ?? 0) > 600 }, by: { $0.id < $1.id })
    store.remove(Reference<Track>(7))  // its observers receive a change without a value
    store.set(renamed, confirmedBy: api.send(renamed))  // seen at once, undone if that fails
    // end
    return long
  }

  private let store = EntityStore()

  @Test func `a view follows its track and the artist, and learns of a removal`() {
    let view = TrackView(7, in: store)
    #expect(view.text.value == "gone")

    Self.store(Page(), in: store)
    #expect(view.text.value == "Scherzo by Clara Wieck")
    store.set(Artist(id: 1, name: "Clara Schumann"))
    #expect(view.text.value == "Scherzo by Clara Schumann")
    store.set(Track(id: 7, seconds: 300, artist: Reference(1)))
    #expect(view.text.value == "Scherzo by Clara Schumann")
    #expect(store.get(Reference<Track>(7))?.seconds == 300)

    store.remove(Reference<Track>(7))
    #expect(view.text.value == "gone")
  }

  @Test func `a page is one notice, and a failed write is undone`() {
    let seen = Recorder<EntityChange<Track>>()
      .subscribe(to: store.signal(of: Reference<Track>(7)))
    Self.store(Page(), in: store)
    #expect(seen.values.count == 2)

    let api = API()
    let long = Self.more(store, api, Track(id: 8, seconds: 700, artist: Reference(1)))
    let list = Recorder<[Track]>().subscribe(to: long.values)
    api.answer.failed(URLError(.notConnectedToInternet))

    #expect(seen.values.last?.value == nil)
    #expect(list.values.map { $0.map(\.id) } == [[8], []])
  }
}
