import MillpondSockets

/// A question to several servers at once: to sentinels, where the primary of a service is, or to those
/// of a cluster, which of them has which slots.
///
/// A server that was cut off from the others may be mistaken, so what most of them answer counts. If
/// not so many can be asked, it is what most of the others answer, the first of them if they disagree.
///
/// - Source: https://redis.io/docs/latest/develop/reference/sentinel-clients/
struct ServerInquiry<Answer: Hashable & Sendable>: Sendable {
  /// A question, and the way in which its answer is read.
  struct Question: Sendable {
    /// The subject, for errors.
    let subject: String

    /// The commands, of which the last one asks.
    let requests: [RedisRequest]

    /// The limits of the answers.
    let limits: RESPLimits

    /// Reads the answer of the server at an address; nil if it says nothing.
    let read: @Sendable (RESPValue, RedisAddress) -> Answer?
  }

  private let subject: String
  private let deadline: Int64
  private var servers: [InquiredServer<Answer>]

  init(_ question: Question, _ addresses: [RedisAddress], _ settings: RedisSettings) {
    subject = question.subject
    deadline = settings.limits.deadline
    servers = addresses.map { address in
      var own = settings
      own.address = address
      return InquiredServer(own, question)
    }
  }

  /// Asks, and returns the answer; blocks the thread.
  mutating func answer() throws(RedisError) -> Answer {
    let wake: WakePipe
    do throws(SocketError) { wake = try WakePipe() } catch { throw RedisError(error) }
    let start = SocketCalls.now()
    for place in servers.indices { servers[place].connect(wake) }
    while true {
      let now = SocketCalls.now()
      let (answer, count) = mostNamed
      let isEnough = 2 * count > servers.count || now - start >= deadline / 4
      let isOver = servers.allSatisfy(\.isOver) || now - start >= deadline / 4 * 3
      if let answer, isEnough || isOver { return answer }
      if isOver { throw .noPrimary(service: subject, reason: failures) }
      let limit = answer == nil ? deadline / 4 * 3 : deadline / 4
      var watches = [SocketCalls.Watch(descriptor: wake.descriptor)] + servers.map(\.watch)
      SocketCalls.wait(for: &watches, atMost: max(0, start + limit - now))
      if watches[0].isReadable { wake.clear() }
      for place in servers.indices { servers[place].act(on: watches[place + 1], wake) }
    }
  }

  private var mostNamed: (answer: Answer?, count: Int) {
    let named = servers.compactMap(\.answer)
    let counts = named.map { answer in named.count { $0 == answer } }
    guard let most = counts.max(), let place = counts.firstIndex(of: most) else { return (nil, 0) }
    return (named[place], most)
  }

  private var failures: String {
    if servers.isEmpty { return "there is no server to ask" }
    return servers.map { "\($0.settings.address): \($0.failure ?? .timedOut)" }
      .joined(separator: ", ")
  }
}

/// One of the servers, and what it answers.
private struct InquiredServer<Answer: Hashable & Sendable>: Sendable {
  let settings: RedisSettings
  private let question: ServerInquiry<Answer>.Question
  private(set) var answer: Answer?
  private(set) var failure: RedisError?
  private var places: [RedisPlace] = []
  private var link: (any RedisLink)?
  private var isConnected = false
  private var output: LinkOutput
  private var parser: RESPParser
  private var answers: [RESPValue] = []

  init(_ settings: RedisSettings, _ question: ServerInquiry<Answer>.Question) {
    self.settings = settings
    self.question = question
    parser = RESPParser(question.limits)
    var bytes: [UInt8] = []
    for request in question.requests { request.append(to: &bytes) }
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
      while link != nil, let next = try parser.next() {
        answers.append(next)
        if case .error(let message) = next {
          end(.server(message: message))
        } else if answers.count == question.requests.count {
          answer = question.read(next, settings.address)
          end(answer == nil ? .malformedReply("it names no primary") : nil)
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
