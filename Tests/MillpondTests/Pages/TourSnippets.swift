import Foundation
import Millpond
import MillpondEntityArchive

// Every snippet of the tour stands here, so that it has to compile. `SnippetTests` compares.

struct Profile: Codable, Sendable {
  var name: String
}

struct API: Sendable {
  func profile(_ id: Int) async throws -> Profile { Profile(name: "\(id)") }
  func search(_ query: String) async throws -> [String] { [query] }
  func load(_ id: Int, _ answer: @Sendable (Result<Profile, any Error>) -> Void) {
    answer(.success(Profile(name: "\(id)")))
  }
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

func keep(_ bag: DisposableBag) -> some Cache<String, Data> {
  // snippet
  let icons = MemoryCache<String, Data>(
    costLimit: .mebibytes(32), timeToLive: .minutes(30), jitter: 0.1, cost: \.count)
  icons.set(Data([1, 2, 3]), for: "spinner", timeToLive: .forever)
  icons.removals.subscribe(onNext: { print("\($0.key): \($0.cause)") }).disposed(by: bag)

  icons.costLimit = .mebibytes(8)  // lets go at once
  icons.trim(to: 0.5)
  print(icons.peek("spinner")?.count ?? 0, icons.statistics.hitRatio)

  icons.onMemoryPressure(.ofSystem())  // on Linux, of the container first
  // end
  return icons
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

  let bag = DisposableBag()  // ends what is in it when it is released
  pictures.get(url).subscribeOnMain(onNext: { row.picture = $0 }).disposed(by: bag)
  // end
}

func await(_ pictures: some Cache<URL, Data>, _ url: URL, _ otherURL: URL) async throws -> [Data] {
  // snippet
  let picture = try await pictures.get(url).value
  let (one, other) = try await zip(pictures.get(url), pictures.get(otherURL)).value
  // end
  return [picture, one, other]
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

func store(
  _ pictures: some Cache<URL, Data>, _ picture: Data, _ url: URL, _ otherURL: URL
) async throws {
  // snippet
  pictures.set(picture, for: url)
  pictures.set(picture, for: url, timeToLive: .minutes(1))  // in every layer
  pictures.remove(url)
  pictures.set(all: [url: picture, otherURL: picture])  // one outcome, which names what failed
  try await pictures.removeAll().value
  try await pictures.flush()  // the last line of a short program
  // end
}

func readmeRemovals(
  memory: MemoryCache<Int, Data>, disk: DiskCache, guests: Set<Int>
) async throws {
  // snippet
  let files = disk.mapKeys({ "user/\($0)" }, inverse: { Int($0.dropFirst(5)) })
  let users = memory.layered(over: files)
  try await users.removeAll { guests.contains($0) }.value
  try await disk.removeAll(withPrefix: "user/").value
  // end
}

func keepOnDisk(
  _ folder: URL, _ data: Data, _ pieces: Signal<Data>, _ play: (URL) -> Void
) async throws {
  // snippet
  let disk = DiskCache(
    directory: folder, byteLimit: .mebibytes(256), timeToLive: .days(1),
    schema: DiskSchema(version: 2))  // what was written as version 1 is a miss
  disk.set(data, for: "a")
  try await disk.flush(.synchronized)  // from here on it outlives a power cut

  try await disk.storing(pieces, for: "film").value  // into a file, while they arrive
  let film = try await disk.file(for: "film").value  // stays while you hold it
  play(film.url)

  let report = try await disk.verify().value  // reads all, drops what is damaged
  print(report.goodValues, disk.statistics.hitRatio)
  // end
}

func decoded(in folder: URL) {
  // snippet
  let profiles = DiskCache(directory: folder, byteLimit: .mebibytes(16))
    .mapValues(.json(Profile.self))
  profiles.set(Profile(name: "Ada"), for: "me")
  // end
}

func functions(_ api: API) {
  // snippet
  let names = MemoryCache<Int, String>(countLimit: 500)
    .layered(over: FunctionSource { id in try await api.profile(id).name })
  let legacy = FunctionSource<Int, Profile>.callback { id, answer in api.load(id, answer) }
  // end
  _ = (names, legacy)
}

// snippet
struct Users: Source {
  let api: API

  func get(_ id: Int, _ lookup: Lookup) -> Signal<Profile> {
    .async { try await api.profile(id) }
  }
}
// end

func erased(_ api: API) -> AnyCache<Int, Profile> {
  // snippet
  let users = AnyCache(
    MemoryCache(countLimit: 500).layered(over: Users(api: api)).reusingInFlight())
  // end
  return users
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

func lookInside(
  memory: MemoryCache<URL, Data>, disk: some Cache<URL, Data>, network: some Source<URL, Data>,
  _ url: URL
) async throws {
  // snippet
  let monitor = CacheMonitor()
  let avatars = memory.named("memory")
    .layered(over: disk.named("disk").layered(over: network.named("network")))
    .reusingInFlight()
    .monitored(by: monitor)

  print(avatars.diagram)  // a tree; mermaidDiagram can be drawn
  print(avatars.plan(for: url))  // memory: no value, disk: has the value
  let found = try await avatars.lookUp(url).value
  print(found.provenance)  // memory: miss 1 µs; disk: hit 80 µs, 40 s old
  print(monitor.statistics["disk"]?.hitRatio ?? 0, avatars.sizes)
  monitor.events.subscribe(onNext: { print($0) })
  avatars.flights(olderThan: .seconds(30)).subscribe(onNext: { print("stuck: \($0)") })
  // end

  // snippet
  let session = CacheScope()
  let mine = avatars.scoped(to: session)
  try await session.end()
  // end
  _ = mine
}

struct Session: Sendable {
  var isSignedIn: Bool {
    get async throws { true }
  }
}

func policies(
  people: some Source<Int, Profile>, mirror: some Source<Int, Profile>, session: Session,
  bulk: @escaping @Sendable ([Int]) async throws -> [Int: Profile]
) async throws {
  // snippet
  let api = people.rateLimited(to: 10, per: .seconds(1), burst: 5)  // counts retries too
    .limited(to: 6, reserved: 2, maxWaiting: 100)  // an urgent joiner moves a waiting flight up
    .circuitBreaking(afterFailures: 5, for: .seconds(30))  // asks no origin that is down
    .retrying(.backoff(attempts: 3, from: .milliseconds(200), upTo: .seconds(5)))
    .hedged(with: mirror, after: .milliseconds(300))  // the first value wins
    .timingOut(after: .seconds(10))
    .conditioned { _ in try await session.isSignedIn }  // else CacheError.refused
  let all = try await api.get(all: [1, 2, 3]).value  // a Result for each, in order
  let team = try await api.values(for: [1, 2, 3]).value  // all values, or the first failure

  let batched = BulkSource<Int, Profile> { ids in .async { try await bulk(ids) } }
    .batching(window: .milliseconds(10), max: 50)  // many gets, one call
  // end
  _ = (all, team, batched)
}

func articles(in disk: DiskCache) -> HTTPSource<URL> {
  // snippet
  let responses = HTTPCache(over: URLSessionTransport(), in: disk) { request, decision in
    print(request.url, decision)  // "validate: it is stale (RFC 9111 §4.2)"
  }
  let articles = HTTPSource(transport: responses)
  // end
  return articles
}

/// An origin that is told which version its caller has.
protocol VersionedTexts: Sendable {
  func text(_ id: Int, ifNot tag: String?) async throws -> (text: String?, tag: String?)
}

func validated(_ api: some VersionedTexts, _ memory: MemoryCache<Int, String>) -> Signal<String> {
  // snippet
  let texts = FunctionSource<Int, String>.validating { id, known in
    let answer = try await api.text(id, ifNot: known?.entityTag)
    guard let text = answer.text else { return .notModified() }
    return .value(Stamped(text, validator: Validator(entityTag: answer.tag)))
  }
  let cached = memory.layered(over: texts)
  let recent = cached.get(7, freshness: .atMost(.minutes(1)))  // asks whether it is current
  // end
  return recent
}

struct Recording: Identifiable, Sendable {
  let id: Int
}

struct Studio: Sendable {
  let url: URL

  func token(insteadOf refused: String?) async throws -> String { "Bearer \(refused ?? "")" }
  func signedURL(of id: Int) async throws -> URL { URL(filePath: "/\(id)") }
}

func recordings(
  of studio: Studio, _ folder: URL, _ session: CacheScope
) -> some Source<Int, Data> {
  // snippet
  let account = HTTPAuthorization(for: studio.url, in: session) { refused in
    ["Authorization": try await studio.token(insteadOf: refused?["Authorization"])]
  }
  let partials = PartialTransfers(directory: folder, byteLimit: .mebibytes(64))
  let recordings = HTTPSource(
    limits: HTTPLimits(idleTimeout: .seconds(20), byteLimit: .mebibytes(32)),
    authorization: account, resuming: partials
  ) { (id: Recording.ID) in
    HTTPRequest(url: try await studio.signedURL(of: id), identity: "recording \(id)")
  }
  let patient =
    recordings
    .limited(to: 6)
    .retrying(.backoff(attempts: 3, from: .milliseconds(200), upTo: .seconds(30)).onlyTransient)
  // end
  return patient
}

struct Receipt: Codable, Sendable {
  let number: Int
}

struct ProgressView: Sendable {
  func show(_ progress: SignalProgress) {}
  func close() {}
}

func order(
  _ order: Receipt, at shop: URL, _ target: URL, _ film: URL, _ account: HTTPAuthorization,
  _ bar: ProgressView
) async throws {
  // snippet
  let api = HTTPSource(authorization: account)
  let receipt = try await api.send(.post(shop, .json(order))).value.json(Receipt.self)
  api.send(.put(target, .file(film, contentType: "video/mp4")))
    .subscribe(onProgress: { bar.show($0) }, onCompleted: { bar.close() })
  // end
  _ = receipt
}

struct Player: Sendable {
  func play(_ file: URL) {}
}

struct Cover: Sendable {
  init(decoding data: Data) throws {}
}

func watch(_ url: URL, then nextURL: URL, in folder: URL, on player: Player) async throws {
  // snippet
  let films = MediaCache(
    DiskCache(directory: folder, byteLimit: .mebibytes(2_048)), over: HTTPSource(), limitedTo: 4,
    name: \.absoluteString)
  let ahead = films.prefetch(nextURL).subscribe()  // a get of it raises its priority
  let film = try await films.get(url, priority: .high).value
  player.play(film.url)
  ahead.dispose()

  let covers = MemoryCache<URL, Cover>(countLimit: 200)
    .layered(over: films.decoding { try Cover(decoding: $0) })
  // end
  _ = covers
}

@MainActor func multiplex(
  _ api: API, in folder: URL, _ session: CacheScope, _ show: @escaping @MainActor (Profile?) -> Void
) async throws {
  // snippet
  let me = Multiplexer<Profile>(persistence: .disk("me", in: folder), scope: session) {
    try await api.profile(1)
  }
  let profile = try await me.get().value  // asked once for all, then fresh for half an hour
  me.observe(every: .minutes(1))  // fetches when it is stale, and each minute
    .subscribeOnMain(onNext: { show($0.value) })  // and age, error, loading
  me.refresh()  // soft: asks, the old value stays usable
  me.markStale()  // soft too: the next get asks
  me.remove()  // hard: what is asked from now on is asked anew

  let users = MultiplexerMap<Int, Profile>(
    freshness: FreshnessPolicy(
      freshFor: .minutes(1), usableFor: .days(1), stale: .atOnce)
  ) { try await api.profile($0) }
  let one = users.get(7)  // what is kept, at once, and then what is new
  let strict = users.get(7, stale: .never)  // fresh, or a failure
  let patient = users.get(7, stale: .after(.milliseconds(300)))  // stale, if new takes longer
  let some = try await users.get(all: [1, 2, 3]).value

  let repository = Repository()
  try repository.add(me, named: "me")
  try await repository.flush()
  try await repository.shutDown(deadline: .after(.seconds(5)))  // at the end
  // end
  _ = (profile, one, strict, patient, some)
}

enum ReadmeLibrary {
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

  static func keepEntities(_ disk: DiskCache, _ api: AnyCache<Int, Book>, _ bag: DisposableBag)
    async throws
  {
    // snippet
    let store = EntityStore()
    let archive = EntityArchive(
      of: store, in: disk,
      types: [ArchivedType(Book.self, named: "book"), ArchivedType(Author.self, named: "author")])
    _ = try await archive.restored.value

    store.signal(of: Reference<Book>(1)).subscribe(onNext: { change in
      print(change.value?.title ?? "none", change.causes)
    }).disposed(by: bag)

    store.update { library in  // one commit, one notice; what throws has changed nothing
      library.set(Author(id: "mary", name: "Mary Godwin"))
      library.set(Book(id: 1, title: "Frankenstein", author: Reference("mary")))
    }
    store.set(Author(id: "mary", name: "Mary Shelley"))  // observers of the book see it

    let titled = store.query(Book.self, where: { $0.title != nil }, by: { $0.id < $1.id })
    titled.changes.subscribe(onNext: { print($0) }).disposed(by: bag)
    let book = try await api.through(store).get(1).value  // merged into the store
    store.set(book, confirmedBy: api.set(book, for: 1))  // seen at once; undone if that fails
    // end
  }
}
