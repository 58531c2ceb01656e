import MillpondSockets

/// A question to all sentinels of a service at once: where its primary is.
///
/// A sentinel that was cut off may name a primary that is none any more, so the place that most of
/// them name counts. If not so many can be asked, it is the one that most of the others name, the
/// first of them if they disagree.
///
/// - Source: https://redis.io/docs/latest/develop/reference/sentinel-clients/
struct SentinelInquiry {
  private let service: String
  private let deadline: Int64
  private var sentinels: [SentinelAnswer]

  init(_ settings: RedisSettings, service: String, _ addresses: [RedisAddress], password: String?) {
    self.service = service
    deadline = settings.limits.deadline
    sentinels = addresses.map { address in
      var own = settings
      own.address = address
      return SentinelAnswer(own, service, password)
    }
  }

  /// Asks, and returns the address of the primary; blocks the thread.
  mutating func primary() throws(RedisError) -> RedisAddress {
    let wake: WakePipe
    do throws(SocketError) { wake = try WakePipe() } catch { throw RedisError(error) }
    let start = SocketCalls.now()
    for place in sentinels.indices { sentinels[place].connect(wake) }
    while true {
      let now = SocketCalls.now()
      let (primary, count) = mostNamed
      let isEnough = 2 * count > sentinels.count || now - start >= deadline / 4
      let isOver = sentinels.allSatisfy(\.isOver) || now - start >= deadline / 4 * 3
      if let primary, isEnough || isOver { return primary }
      if isOver { throw .noPrimary(service: service, reason: failures) }
      let limit = primary == nil ? deadline / 4 * 3 : deadline / 4
      var watches = [SocketCalls.Watch(descriptor: wake.descriptor)] + sentinels.map(\.watch)
      SocketCalls.wait(for: &watches, atMost: max(0, start + limit - now))
      if watches[0].isReadable { wake.clear() }
      for place in sentinels.indices { sentinels[place].act(on: watches[place + 1], wake) }
    }
  }

  private var mostNamed: (primary: RedisAddress?, count: Int) {
    let named = sentinels.compactMap(\.primary)
    let counts = named.map { address in named.count { $0 == address } }
    guard let most = counts.max(), let place = counts.firstIndex(of: most) else { return (nil, 0) }
    return (named[place], most)
  }

  private var failures: String {
    if sentinels.isEmpty { return "there is no sentinel to ask" }
    return sentinels.map { "\($0.settings.address): \($0.failure ?? .timedOut)" }
      .joined(separator: ", ")
  }
}

/// One of the sentinels, and what it answers.
private struct SentinelAnswer {
  let settings: RedisSettings
  private let requests: [RedisRequest]
  private(set) var primary: RedisAddress?
  private(set) var failure: RedisError?
  private var places: [RedisPlace] = []
  private var link: (any RedisLink)?
  private var isConnected = false
  private var output: LinkOutput
  private var parser = RESPParser(RESPLimits(lineLength: 1_024, stringLength: 1_024, elements: 16))
  private var answers: [RESPValue] = []

  init(_ settings: RedisSettings, _ service: String, _ password: String?) {
    self.settings = settings
    let credentials: [RedisRequest] = password.map { [.command("AUTH", .text($0))] } ?? []
    requests = credentials + [.command("SENTINEL", "get-master-addr-by-name", .text(service))]
    var bytes: [UInt8] = []
    for request in requests { request.append(to: &bytes) }
    output = LinkOutput(bytes: bytes, generation: 0)
  }

  var isOver: Bool { link == nil }

  var watch: SocketCalls.Watch {
    SocketCalls.Watch(
      descriptor: link?.descriptor ?? -1, isWriting: !isConnected || output.rest > 0)
  }

  mutating func connect(_ wake: WakePipe) {
    do throws(RedisError) {
      places = try settings.places().places
    } catch {
      return failure = error
    }
    connectToNext(wake, .connectionLost)
  }

  private mutating func connectToNext(_ wake: WakePipe, _ error: RedisError) {
    (link, failure) = (nil, error)
    while link == nil, !places.isEmpty {
      do throws(RedisError) {
        link = try places.removeFirst().link(wake)
        failure = nil
      } catch {
        failure = error
      }
    }
  }

  mutating func act(on watch: SocketCalls.Watch, _ wake: WakePipe) {
    guard let link else { return }
    let (isReadable, isWritable) = link.readiness(after: watch)
    if !isConnected {
      guard isWritable else { return }
      if let failure = link.failure { return connectToNext(wake, failure) }
      isConnected = true
    }
    if isWritable, output.rest > 0 {
      output.isBlocked = false
      link.send(&output)
    }
    if isReadable { read(link) }
  }

  private mutating func read(_ link: any RedisLink) {
    var room = [UInt8](repeating: 0, count: 1_024)
    while self.link != nil {
      switch room.withUnsafeMutableBytes({ link.receive(into: $0) }) {
      case .moved(0): end(link.failure ?? .connectionLost)
      case .moved(let count):
        room.withUnsafeBytes { parser.append(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        parse()
      case .wouldBlock: return
      case .failed(let code): end(.system(call: "recv", code: code))
      }
    }
  }

  private mutating func parse() {
    do throws(RESPError) {
      while link != nil, let answer = try parser.next() {
        answers.append(answer)
        if case .error(let message) = answer {
          end(.server(message: message))
        } else if answers.count == requests.count {
          primary = settings.address.primary(answer)
          end(primary == nil ? .malformedReply("it names no primary") : nil)
        }
      }
    } catch {
      end(.malformedReply("\(error)"))
    }
  }

  private mutating func end(_ error: RedisError?) {
    link?.shutDown()
    (link, failure) = (nil, error)
  }
}

extension RedisAddress {
  /// The primary that a sentinel at this address names, which is spoken to as the sentinel is; nil
  /// if it names none.
  fileprivate func primary(_ answer: RESPValue) -> RedisAddress? {
    guard case .array(let parts) = answer, parts.count == 2, let host = parts[0].text,
      !host.isEmpty, let port = parts[1].text.flatMap({ UInt16($0) }), port > 0
    else { return nil }
    if case .tls = self { return .tls(host: host, port: port) }
    return .tcp(host: host, port: port)
  }
}
