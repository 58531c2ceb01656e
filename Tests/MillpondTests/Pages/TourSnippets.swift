import Foundation
import Millpond
import MillpondEntities

// Every snippet of the tour stands here, so that it has to compile. `SnippetTests` compares.

struct Profile: Codable, Sendable {
  var name: String
}

struct API: Sendable {
  func profile(_ id: Int) async throws -> Profile { Profile(name: "\(id)") }
  func search(_ query: String) async throws -> [String] { [query] }
}

@MainActor final class Row {
  var fraction: Double?
  var picture: Data?
  var problem: String?
}

func getAndSet() {
  // snippet
  let answers = MemoryCache<String, Int>(countLimit: 1_000)
  answers.set(42, for: "everything")
  answers.get("everything").subscribe(
    onNext: { print($0) }, onCompleted: { print("that was it") })
  // end
}

func share(
  _ origin: some Source<URL, Data>, _ url: URL, _ show: @escaping @Sendable (Data) -> Void
) -> Signal<Data> {
  // snippet
  let downloads = MemoryCache<URL, Data>(countLimit: 500)
  downloads[url] = origin.get(url).replayLast()  // runs when it is first subscribed to
  downloads[url]?.subscribe(onNext: show)  // the latest value, what follows, and the end
  downloads[url] = nil  // removed; present subscribers stay subscribed
  let picture = downloads.signal(for: url) { origin.get(url) }  // finds, joins or starts
  // end
  return picture
}

func composed(in folder: URL) -> some Cache<URL, Data> {
  // snippet
  let pictures = MemoryCache<URL, Data>(costLimit: .mebibytes(64), cost: \.count)
    .layered(
      over: DiskCache(directory: folder, byteLimit: .mebibytes(256)).mapKeys(\.absoluteString)
        .layered(over: HTTPSource().limited(to: 6))
        .reusingInFlight())
  // end
  return pictures
}

@MainActor func show(_ pictures: some Cache<URL, Data>, _ url: URL, in row: Row) {
  // snippet
  let loading = pictures.get(url, priority: .high).subscribeOnMain(
    onProgress: { row.fraction = $0.fraction },
    onNext: { row.picture = $0 },
    onFailed: { row.problem = "\($0)" })
  loading.dispose()
  // end
}

func await(_ pictures: some Cache<URL, Data>, _ url: URL) async throws -> Data {
  // snippet
  let picture = try await pictures.get(url).value
  // end
  return picture
}

func choose(_ pictures: some Cache<URL, Data>, _ url: URL) -> [Signal<Data>] {
  let choices = [
    // snippet
    pictures.get(url, freshness: .reload),  // ask the origin, and store its answer
    pictures.get(url, freshness: .atMost(.minutes(1))),  // nothing older than a minute
    pictures.get(url, freshness: .cachedOnly),  // no request
    pictures.get(url, deadline: .after(.seconds(5))),  // fails with timedOut, for this caller only
    // end
  ]
  return choices
}

func store(_ pictures: some Cache<URL, Data>, _ picture: Data, _ url: URL, _ host: String)
  async throws
{
  // snippet
  pictures.set(picture, for: url, timeToLive: .minutes(1))  // in every layer
  pictures.remove(url)
  try await pictures.removeAll { $0.host() == host }.value
  try await pictures.flush().value  // the last line of a short program
  // end
}

func decoded(in folder: URL) {
  // snippet
  let profiles = DiskCache(directory: folder, byteLimit: .mebibytes(16))
    .mapValues(.json(Profile.self))
  profiles.set(Profile(name: "Ada"), for: "me")
  // end
}

func policies(people: some Source<Int, Profile>) async throws -> [Profile] {
  // snippet
  let api = people.rateLimited(to: 10, per: .seconds(1), burst: 5)
    .limited(to: 6, reserved: 2)  // an urgent joiner moves a waiting flight up
    .circuitBreaking(afterFailures: 5, for: .seconds(30))  // asks no origin that is down
    .retrying(.backoff(attempts: 3, from: .milliseconds(200), upTo: .seconds(5)))
    .timingOut(after: .seconds(10))
  let team = try await api.values(for: [1, 2, 3]).value  // all values, or the first failure
  // end
  return team
}

func stores(_ folder: URL, _ pieces: Signal<Data>) async throws {
  // snippet
  let icons = MemoryCache<String, Data>(
    costLimit: .mebibytes(32), timeToLive: .minutes(30), jitter: 0.1, cost: \.count)
  icons.onMemoryPressure(.ofSystem())  // on Linux, of the container first

  let disk = DiskCache(
    directory: folder, byteLimit: .mebibytes(256), timeToLive: .days(1),
    schema: DiskSchema(version: 2))  // what was written as version 1 is a miss
  try await disk.storing(pieces, for: "film").value  // into a file, while they arrive
  // end
}

struct Recording: Identifiable, Sendable {
  let id: Int
}

struct Studio: Sendable {
  let url: URL

  func token(insteadOf refused: String?) async throws -> String { "Bearer \(refused ?? "")" }
  func signedURL(of id: Int) async throws -> URL { URL(filePath: "/\(id)") }
}

func network(
  _ studio: Studio, _ folder: URL, _ disk: DiskCache, _ session: CacheScope
) -> (HTTPSource<Int>, HTTPSource<URL>) {
  // snippet
  let account = HTTPAuthorization(for: studio.url, in: session) { refused in
    ["Authorization": try await studio.token(insteadOf: refused?["Authorization"])]
  }
  let recordings = HTTPSource(
    authorization: account,
    resuming: PartialTransfers(directory: folder, byteLimit: .mebibytes(64))
  ) { (id: Recording.ID) in
    HTTPRequest(url: try await studio.signedURL(of: id), identity: "recording \(id)")
  }
  let articles = HTTPSource(transport: HTTPCache(over: URLSessionTransport(), in: disk))
  // end
  return (recordings, articles)
}

struct Player: Sendable {
  func play(_ file: URL) {}
}

func watch(_ url: URL, then nextURL: URL, in folder: URL, on player: Player) async throws {
  // snippet
  let films = MediaCache(
    DiskCache(directory: folder, byteLimit: .mebibytes(2_048)), over: HTTPSource(), limitedTo: 4,
    name: \.absoluteString)
  let ahead = films.prefetch([nextURL]).subscribe()  // a get of it raises its priority
  player.play(try await films.get(url, priority: .high).value.url)
  ahead.dispose()
  // end
}

@MainActor func multiplex(
  _ api: API, in folder: URL, _ session: CacheScope, _ show: @escaping @MainActor (Profile?) -> Void
) -> Signal<Profile> {
  // snippet
  let me = Multiplexer<Profile>(persistence: .disk("me", in: folder), scope: session) {
    try await api.profile(1)
  }
  me.observe(every: .minutes(1))  // fetches when it is stale, and each minute
    .subscribeOnMain(onNext: { show($0.value) })  // and age, error, loading
  me.refresh()  // soft: asks, the old value stays usable
  me.remove()  // hard: what is asked from now on is asked anew

  let users = MultiplexerMap<Int, Profile>(
    freshness: FreshnessPolicy(freshFor: .minutes(1), usableFor: .days(1))
  ) { try await api.profile($0) }
  let patient = users.get(7, stale: .after(.milliseconds(300)))  // stale, if new takes longer
  // end
  return patient
}

enum TourLibrary {
  // snippet
  struct Book: Mergeable, Codable {
    let id: Int
    var title: String?
    var author: Reference<Author>?

    static let relations: [Relation<Book>] = [Relation(\.author)]

    func merged(with newer: Book) -> Book {
      Book(id: id, title: newer.title ?? title, author: newer.author ?? author)
    }
  }

  struct Author: Entity, Codable {
    let id: String
    var name: String
  }
  // end

  static func keepEntities(
    _ api: AnyCache<Int, Book>, _ bag: DisposableBag
  ) async throws -> Book {
    // snippet
    let store = EntityStore()
    store.signal(of: Reference<Book>(1)).subscribe(onNext: { change in
      print(change.value?.title ?? "none", change.causes)
    }).disposed(by: bag)
    store.update { library in  // one commit, one notice; what throws has changed nothing
      library.set(Author(id: "mary", name: "Mary Godwin"))
      library.set(Book(id: 1, title: "Frankenstein", author: Reference("mary")))
    }
    let book = try await api.through(store).get(1).value  // merged into the store
    // end
    return book
  }
}

func functions(_ api: API) -> some Cache<Int, String> {
  // snippet
  let names = MemoryCache<Int, String>(countLimit: 500)
    .layered(over: FunctionSource { id in try await api.profile(id).name })
  // end
  return names
}

func lookInside(
  memory: MemoryCache<URL, Data>, disk: some Cache<URL, Data>, network: some Source<URL, Data>,
  _ url: URL
) async throws -> Signal<Data> {
  // snippet
  let monitor = CacheMonitor()
  let avatars = memory.named("memory")
    .layered(over: disk.named("disk").layered(over: network.named("network")))
    .reusingInFlight()
    .monitored(by: monitor)

  print(avatars.diagram)  // a tree; mermaidDiagram can be drawn
  print(try await avatars.lookUp(url).value.provenance)  // memory: miss 1 µs; disk: hit 80 µs
  print(monitor.statistics["disk"]?.hitRatio ?? 0, avatars.sizes)
  // end

  // snippet
  let session = CacheScope()
  let mine = avatars.scoped(to: session)
  try await session.end()
  // end
  return mine.get(url)
}

func searching(_ api: API, _ bag: DisposableBag) {
  // snippet
  let clicks = PublishSubject<String>()
  let results = clicks.signal
    .debounce(.milliseconds(300))
    .flatMap(.latest) { query in Signal.async { try await api.search(query) } }
    .recover { _ in .just([]) }
  results.subscribe(onNext: { print($0) }).disposed(by: bag)
  clicks.next("mill")
  // end
}
