import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

/// Requests that overlap get whole answers, and leave a store as one order of them would.
@Suite(.schedules) struct HTTPScheduleTests {
  typealias Records = MemoryCache<String, HTTPCacheRecord>

  private static let url = URL(string: "http://origin.test/a") ?? URL(filePath: "/")
  private static let lasting: HeaderFields = ["Cache-Control": "max-age=60", "ETag": "\"1\""]
  private static let stale: HeaderFields = ["Cache-Control": "max-age=0", "ETag": "\"1\""]

  private func cache(
    _ transport: ProgramTransport, _ store: some Cache<String, HTTPCacheRecord>
  ) -> HTTPCache {
    let now = Date(timeIntervalSince1970: 1_800_000_000)
    return HTTPCache(over: transport, in: store, now: { now })
  }

  private func ask(
    _ cache: HTTPCache, _ directives: String? = nil, method: HTTPMethod = .get,
    language: String? = nil
  ) -> Signal<HTTPPart> {
    var headers = HeaderFields()
    if let language { headers.append(language, for: "Accept-Language") }
    if let directives { headers.append(directives, for: "Cache-Control") }
    return cache.send(HTTPRequest(url: Self.url, method: method, headers: headers))
  }

  /// Looks at what is stored, once all is quiet.
  private func stored(
    _ cache: HTTPCache, _ program: ScheduleProgram, language: String? = nil
  ) -> Witness<HTTPPart> {
    let seen = Witness<HTTPPart>()
    program.whenQuiet {
      seen.watch(ask(cache, "only-if-cached", language: language))
      return nil
    }
    program.whenQuiet { seen.complaint() }
    return seen
  }

  /// Checks that each stored body is that of a stored head.
  private func expectNamedBodies(in records: Records, _ program: ScheduleProgram) {
    program.whenQuiet {
      let records = records.snapshot().map(\.value)
      let heads = records.compactMap(\.heads).joined()
      return records.count { $0.body != nil } > heads.count
        ? "a body is stored without a head" : nil
    }
  }

  // MARK: The cache

  @Test func `two callers of a URL, one of which leaves`() {
    expectNoFault(.http) { program in
      let (transport, records) = (ProgramTransport(), Records(countLimit: 10))
      let cache = cache(transport, records)
      let (first, second) = (Witness<HTTPPart>(), Witness<HTTPPart>())
      program.thread(["asks": { first.watch(ask(cache)) }, "leaves": { first.leave() }])
      program.thread(["asks": { second.watch(ask(cache)) }])
      program.thread(["answers": { transport.answer(200, Self.lasting, "1") }])
      program.whenQuiet {
        transport.answer(200, Self.lasting, "1")
        return transport.requests.count > 2 ? "\(transport.requests.count) requests" : nil
      }
      let last = stored(cache, program)
      expectNamedBodies(in: records, program)
      program.whenQuiet {
        if second.text != "200 1" { return "got \(second.text)" }
        if last.text != "200 1" { return "\(last.text) is stored" }
        return first.complaint(mustEnd: false) ?? second.complaint()
      }
    }
  }

  @Test func `two variants of a URL that arrive together`() {
    expectNoFault(.http) { program in
      let (transport, records) = (ProgramTransport(), Records(countLimit: 10))
      let cache = cache(transport, records)
      let headers: HeaderFields = ["Cache-Control": "max-age=60", "Vary": "Accept-Language"]
      let languages = ["de", "fr"]
      let seen = languages.map { _ in Witness<HTTPPart>() }
      for (language, seen) in zip(languages, seen) {
        program.thread([
          "asks for \(language)": { seen.watch(ask(cache, language: language)) },
          "answers": { transport.answer(200, headers, "1") },
        ])
      }
      let last = languages.map { stored(cache, program, language: $0) }
      expectNamedBodies(in: records, program)
      program.whenQuiet {
        let texts = (seen + last).map(\.text)
        return texts.allSatisfy { $0 == "200 1" } ? nil : "got \(texts)"
      }
    }
  }

  @Test func `a validation beside a reload and a removal of everything`() {
    expectNoFault(.http) { program in
      let (transport, records) = (ProgramTransport(), Records(countLimit: 10))
      let (cache, order) = (cache(transport, records), CallOrder())
      ask(cache).subscribe()
      transport.answer(200, Self.stale, "1")
      let (validated, reloaded) = (Witness<HTTPPart>(), Witness<HTTPPart>())
      program.thread([
        "asks": { order.call("get") { validated.watch(ask(cache)) } },
        "confirms": { transport.answer(304, Self.lasting, "") },
      ])
      program.thread([
        "reloads": { order.call("reload") { reloaded.watch(ask(cache, "no-cache")) } },
        "answers": { transport.answer(200, Self.lasting, "2") },
      ])
      program.thread(["removes": { order.call("remove") { records.removeAll() } }])
      program.whenQuiet {
        for _ in 0..<3 { transport.answer(200, Self.lasting, "2") }
        return nil
      }
      let last = stored(cache, program)
      expectNamedBodies(in: records, program)
      program.whenQuiet {
        for seen in [validated, reloaded] where !["200 1", "200 2"].contains(seen.text) {
          return "got \(seen.text)"
        }
        let isRemoved = order.isBefore("get", "remove") && order.isBefore("reload", "remove")
        if isRemoved, last.text != "504" { return "\(last.text) is stored after the removal" }
        return validated.complaint() ?? reloaded.complaint()
      }
    }
  }

  @Test func `a refresh in the background beside a removal of everything`() {
    expectNoFault(.http) { program in
      let (transport, records) = (ProgramTransport(), Records(countLimit: 10))
      let (cache, order, seen) = (cache(transport, records), CallOrder(), Witness<HTTPPart>())
      ask(cache).subscribe()
      transport.answer(200, ["Cache-Control": "max-age=0, stale-while-revalidate=60"], "1")
      program.thread(["asks": { order.call("get") { seen.watch(ask(cache)) } }])
      program.thread(["answers": { transport.answer(200, Self.lasting, "2") }])
      program.thread(["removes": { order.call("remove") { records.removeAll() } }])
      program.whenQuiet {
        transport.answer(200, Self.lasting, "2")
        return nil
      }
      let last = stored(cache, program)
      expectNamedBodies(in: records, program)
      program.whenQuiet {
        if !["200 1", "200 2"].contains(seen.text) { return "got \(seen.text)" }
        if order.isBefore("get", "remove"), last.text != "504" {
          return "\(last.text) is stored after the removal"
        }
        return seen.complaint()
      }
    }
  }

  @Test func `a get beside a change of the resource`() {
    expectNoFault(.http) { program in
      let (transport, records) = (ProgramTransport(), Records(countLimit: 10))
      let cache = cache(transport, records)
      let (seen, changed) = (Witness<HTTPPart>(), Witness<HTTPPart>())
      program.thread([
        "asks": { seen.watch(ask(cache)) },
        "answers": { transport.answer(200, Self.lasting, "1", method: .get) },
      ])
      program.thread([
        "changes": { changed.watch(ask(cache, method: .post)) },
        "answers": { transport.answer(200, [:], "", method: .post) },
      ])
      program.whenQuiet {
        transport.answer(200, Self.lasting, "1")
        return nil
      }
      let last = stored(cache, program)
      program.whenQuiet {
        // What was asked for before the change may be from before it.
        if transport.isBefore(.get, .post), last.text != "504" { return "\(last.text) is stored" }
        if changed.isCompleted, seen.text != "200 1" { return "got \(seen.text)" }
        return seen.complaint() ?? changed.complaint()
      }
    }
  }

  @Test func `a refresh, a store and a removal on a disk`() {
    expectNoFault(.disk) { program in
      let (transport, disk) = (ProgramTransport(), DiskProgram())
      let (bytes, order) = (disk.open(), CallOrder())
      let cache = cache(transport, bytes.mapValues(.httpRecords))
      ask(cache).subscribe()
      transport.answer(200, Self.stale, "1")
      let (validated, reloaded) = (Witness<HTTPPart>(), Witness<HTTPPart>())
      program.thread([
        "asks": { order.call("get") { validated.watch(ask(cache)) } },
        "confirms": { transport.answer(304, Self.lasting, "") },
      ])
      program.thread([
        "reloads": { order.call("reload") { reloaded.watch(ask(cache, "no-cache")) } },
        "answers": { transport.answer(200, Self.lasting, "2") },
      ])
      program.thread(["removes": { order.call("remove") { bytes.removeAll() } }])
      for _ in 0..<3 {
        program.whenQuiet {
          transport.answer(200, Self.lasting, "2")
          return nil
        }
      }
      let last = stored(cache, program)
      program.whenQuiet {
        for seen in [validated, reloaded] where !["200 1", "200 2"].contains(seen.text) {
          return "got \(seen.text)"
        }
        let isRemoved = order.isBefore("get", "remove") && order.isBefore("reload", "remove")
        if isRemoved, last.text != "504" { return "\(last.text) is stored after the removal" }
        if order.isBefore("remove", "reload"), last.text != "200 2" {
          return "\(last.text) is stored after the reload"
        }
        return validated.complaint() ?? reloaded.complaint()
      }
    }
  }

  // MARK: Partial transfers

  private static let beginning = Data(repeating: 1, count: 20_000)
  private static let rest = Data(repeating: 2, count: 10_000)
  fileprivate static let whole = beginning + rest

  private func source(
    _ transport: ProgramTransport, _ partials: PartialTransfers?
  ) -> HTTPSource<URL> {
    HTTPSource(transport: transport, resuming: partials, clock: ManualClock())
  }

  @Test func `a transfer that is left and resumed beside another`() {
    expectNoFault(.disk) { program in
      let (left, transport, disk) = (ProgramTransport(), ProgramTransport(), DiskProgram())
      let partials = PartialTransfers(directory: disk.folder, byteLimit: .mebibytes(1))
      let (first, second) = (Witness<Data>(), Witness<Data>())
      program.thread([
        "gets": { first.watch(source(left, partials).get(Self.url)) },
        "sends the beginning": { left.begin(Self.whole, Self.beginning.count) },
        "leaves": { first.leave() },
      ])
      program.thread([
        "gets": { second.watch(source(transport, partials).get(Self.url)) },
        "answers": { transport.serve(Self.whole) },
      ])
      program.whenQuiet {
        transport.serve(Self.whole)
        return nil
      }
      program.whenQuiet {
        if second.values != [Self.whole] { return "got \(second.values.map(\.count)) bytes" }
        if left.isRunning { return "a transfer without a caller goes on" }
        return first.complaint(mustEnd: false) ?? second.complaint()
      }
    }
  }

  @Test func `a transfer that is left beside a removal of everything`() {
    expectNoFault(.disk) { program in
      let (transport, disk, order) = (ProgramTransport(), DiskProgram(), CallOrder())
      let partials = PartialTransfers(directory: disk.folder, byteLimit: .mebibytes(1))
      let source = source(transport, partials)
      let (seen, removed, isLeft) = (Witness<Data>(), Witness<Void>(), Shared(false))
      seen.watch(source.get(Self.url))
      program.thread([
        "sends the beginning": { transport.begin(Self.whole, Self.beginning.count) },
        "leaves": { seen.leave() },
      ])
      program.thread([
        "removes": {
          order.call("remove") {
            removed.watch(partials.removeAll().map { isLeft.value = disk.byteCount > 0 })
          }
        }
      ])
      program.whenQuiet {
        if isLeft.value || disk.byteCount > 0 { return "\(disk.byteCount) bytes are left" }
        return seen.complaint(mustEnd: false) ?? removed.complaint()
      }
    }
  }

  @Test func `two callers of a film, one of which leaves`() {
    expectNoFault(.disk) { program in
      let (transport, disk) = (ProgramTransport(), DiskProgram())
      let partials = PartialTransfers(
        directory: disk.folder.appendingPathComponent("partials"), byteLimit: .mebibytes(1))
      let bytes = disk.open()
      let films = MediaCache(bytes, over: source(transport, partials), limitedTo: 2) {
        $0.absoluteString
      }
      let (first, second) = (Witness<DiskFile>(), Witness<DiskFile>())
      program.thread(["gets": { first.watch(films.get(Self.url)) }, "leaves": { first.leave() }])
      program.thread(["gets": { second.watch(films.get(Self.url)) }])
      program.thread(["sends": { transport.serve(Self.whole) }])
      for _ in 0..<2 {
        program.whenQuiet {
          transport.serve(Self.whole)
          return nil
        }
      }
      program.whenQuiet {
        if transport.isRunning { return "a transfer goes on" }
        guard let file = second.values.first, second.values.count == 1 else {
          return "got \(second.summary)"
        }
        if (try? Data(contentsOf: file.url)) != Self.whole { return "the file is not whole" }
        return first.complaint(mustEnd: false) ?? second.complaint()
      }
    }
  }

  @Test func `a film that is removed with everything while it arrives`() {
    expectNoFault(.disk) { program in
      let (transport, disk, order) = (ProgramTransport(), DiskProgram(), CallOrder())
      let bytes = disk.open()
      let films = MediaCache(bytes, over: source(transport, nil), limitedTo: 2) {
        $0.absoluteString
      }
      let (seen, removed, left) = (Witness<Int>(), Witness<Void>(), Shared<[String]>([]))
      program.thread([
        "gets": { order.call("get") { seen.watch(films.get(Self.url).map(\.byteCount)) } },
        "sends": { transport.serve(Self.whole) },
      ])
      program.thread([
        "removes": {
          order.call("remove") {
            removed.watch(
              films.removeAll().map {
                if order.isBefore("get", "remove") { left.value = disk.valueFiles }
              })
          }
        }
      ])
      let found = Witness<Bool>()
      for _ in 0..<2 {
        program.whenQuiet {
          transport.serve(Self.whole)
          return nil
        }
      }
      program.whenQuiet {
        found.watch(bytes.contains(Self.url.absoluteString))
        let isAsked = order.hasReturned("get")
        if isAsked, seen.values != [Self.whole.count] { return "got \(seen.summary)" }
        return seen.complaint(mustEnd: isAsked)
      }
      program.whenQuiet {
        if order.isBefore("get", "remove"), found.values == [true] { return "the film is stored" }
        return left.value.isEmpty ? removed.complaint() : "\(left.value) are left"
      }
    }
  }

  @Test func `two gets whose credentials are refused`() {
    expectNoFault(.http) { program in
      let (transport, obtained) = (ProgramTransport(), Shared(0))
      let account = HTTPAuthorization(for: Self.url, clock: ManualClock()) { _ in
        obtained.value += 1
        return ["X-User": "\(obtained.value)"]
      }
      let source = HTTPSource<URL>(
        transport: transport, authorization: account, clock: ManualClock())
      let seen = [Witness<Data>(), Witness<Data>()]
      for seen in seen { program.thread(["gets": { seen.watch(source.get(Self.url)) }]) }
      program.thread(["refuses": { transport.answer(401, [:], "") }])
      for _ in 0..<3 {
        program.whenQuiet {
          transport.serve(Self.whole)
          return nil
        }
      }
      program.whenQuiet {
        if obtained.value > 2 { return "credentials were obtained \(obtained.value) times" }
        if let other = seen.first(where: { $0.values != [Self.whole] }) {
          return "got \(other.summary)"
        }
        return seen[0].complaint() ?? seen[1].complaint()
      }
    }
  }

  @Test func `a sign-out beside a get and its answer`() {
    expectNoFault(.http) { program in
      let (transport, scope, order) = (ProgramTransport(), CacheScope(), CallOrder())
      let user = Shared("a")
      let account = HTTPAuthorization(for: Self.url, in: scope, clock: ManualClock()) { _ in
        ["X-User": user.value]
      }
      let source = HTTPSource<URL>(
        transport: transport, authorization: account, clock: ManualClock())
      let (former, next) = (Witness<Data>(), Witness<Data>())
      program.thread([
        "gets": { former.watch(source.get(Self.url)) },
        "answers": { transport.serve(Self.whole) },
      ])
      program.thread([
        "signs out": {
          user.value = "b"
          order.call("sign-out") { scope.end().subscribe() }
        },
        "gets": { next.watch(source.get(Self.url)) },
      ])
      for _ in 0..<3 {
        program.whenQuiet {
          transport.serve(Self.whole)
          return nil
        }
      }
      program.whenQuiet {
        if next.values != [Self.whole] { return "the next user got \(next.summary)" }
        let users = transport.requests.compactMap { $0.credentials["X-User"] }
        if order.hasReturned("sign-out"), !users.contains("b") {
          return "the next user's request was sent for \(users)"
        }
        return former.complaint() ?? next.complaint()
      }
    }
  }
}

extension ScheduleEffort {
  /// Fewer schedules, since each makes requests.
  fileprivate static var http: ScheduleEffort { ScheduleEffort(searchLimit: 50, randomCount: 50) }
}

/// A transport whose answers the program sends.
private final class ProgramTransport: HTTPTransport, @unchecked Sendable {
  private final class Run: @unchecked Sendable {
    let request: HTTPRequest
    let lifetime: Lifetime
    var observer: Observer<HTTPPart>?
    var sentCount = 0

    init(_ request: HTTPRequest, _ observer: Observer<HTTPPart>, _ lifetime: Lifetime) {
      self.request = request
      self.observer = observer
      self.lifetime = lifetime
    }
  }

  private var runs: [Run] = []

  /// The methods of the requests that have been sent and answered, in that order.
  private var log: [(method: HTTPMethod, isAnswered: Bool)] = []

  let appliesBackpressure = true

  var requests: [HTTPRequest] { runs.map(\.request) }

  /// Whether a transfer goes on.
  var isRunning: Bool { runs.contains { $0.observer != nil && !$0.lifetime.isEnded } }

  func send(_ request: HTTPRequest) -> Signal<HTTPPart> {
    Signal { [self] observer, lifetime in
      let run = Run(request, observer, lifetime)
      runs.append(run)
      log.append((request.method, false))
      lifetime.onEnd { run.observer = nil }
    }
  }

  /// Whether a request of one method was sent before one of another was answered.
  func isBefore(_ one: HTTPMethod, _ other: HTTPMethod) -> Bool {
    guard let sent = log.firstIndex(where: { $0.method == one && !$0.isAnswered }),
      let answered = log.lastIndex(where: { $0.method == other && $0.isAnswered })
    else { return false }
    return sent < answered
  }

  /// Answers the requests under way: a 304 only those that ask for one.
  func answer(_ status: Int, _ headers: HeaderFields, _ body: String, method: HTTPMethod? = nil) {
    for run in runs where method == nil || run.request.method == method {
      if status == 304, run.request.headers["If-None-Match"] == nil { continue }
      guard let observer = exchange(&run.observer, with: nil) else { continue }
      log.append((run.request.method, true))
      observer.next(.head(HTTPHead(status: status, headers: headers)))
      if !body.isEmpty { observer.next(.body(Data(body.utf8))) }
      observer.completed()
    }
  }

  /// Sends the first bytes of a resource to those who ask for the whole.
  func begin(_ whole: Data, _ count: Int) {
    for run in runs where run.request.headers["Range"] == nil { send(whole.prefix(count), to: run) }
  }

  /// Answers the requests under way with the whole, or with the rest that they ask for.
  func serve(_ whole: Data) {
    for run in runs {
      let observer = run.observer
      send(whole, to: run)
      if exchange(&run.observer, with: nil) != nil { observer?.completed() }
    }
  }

  private func send(_ bytes: Data, to run: Run) {
    let count = HTTPScheduleTests.whole.count
    let range = run.request.headers["Range"] ?? ""
    let start = Int(range.dropFirst("bytes=".count).dropLast()) ?? 0
    if run.sentCount == 0 {
      var headers: HeaderFields = ["ETag": "\"1\"", "Content-Length": "\(count - start)"]
      if start > 0 { headers.append("bytes \(start)-\(count - 1)/\(count)", for: "Content-Range") }
      run.sentCount = start
      run.observer?.next(.head(HTTPHead(status: start > 0 ? 206 : 200, headers: headers)))
    }
    let rest = bytes.dropFirst(run.sentCount)
    run.sentCount = max(run.sentCount, bytes.count)
    run.observer?.next(.body(rest))
  }
}

extension Witness<HTTPPart> {
  /// The status and the body.
  fileprivate var text: String {
    values.map { part in
      switch part {
      case .head(let head): "\(head.status)"
      case .body(let bytes): " " + String(decoding: bytes, as: UTF8.self)
      }
    }.joined()
  }
}
