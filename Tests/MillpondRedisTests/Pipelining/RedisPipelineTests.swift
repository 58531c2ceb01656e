import Foundation
import MillpondSignals
import Synchronization
import Testing

@testable import MillpondRedis

@Suite struct RedisPipelineTests {
  typealias Step = RedisPipeline.Step

  private let limits = ConnectionLimits(deadline: 100, heartbeat: 50, commands: 3, lasting: 10)
  private let answers = Answers()

  @Test func `commands wait for the greeting and are sent in order`() {
    var pipeline = RedisPipeline(limits)
    #expect(submit(&pipeline, "a") == .wake)
    #expect(submit(&pipeline, "b") == .nothing)
    pipeline.beginConnecting()
    pipeline.greet(
      [PendingReply(request: .command("HELLO"), deadline: 100, answer: { _ in })], at: 0)
    #expect(write(&pipeline) == ["HELLO"])
    _ = pipeline.takeAnswered(1, at: 1)
    pipeline.uncork()
    pipeline.becomeReady(at: 1)

    var first = pipeline.beginWriting()
    #expect(text(first) == ["a", "b"])
    #expect(submit(&pipeline, "c") == .nothing, "the writer looks again")
    end(&first, &pipeline)
    #expect(write(&pipeline) == ["c"])
  }

  @Test func `answers go to the commands in their order`() {
    var pipeline = ready()
    for name in ["a", "b", "c"] { _ = submit(&pipeline, name) }

    let taken = pipeline.takeAnswered(2, at: 5)
    fail((taken?.receivers ?? []).map(\.answer))
    #expect(answers.failed == ["a", "b"])
    let rest = pipeline.takeAnswered(1, at: 6)
    fail((rest?.receivers ?? []).map(\.answer))
    #expect(answers.failed == ["a", "b", "c"])
  }

  @Test func `a lonely command is sent at once, and the next ones together`() {
    var pipeline = ready()

    #expect(submit(&pipeline, "a") == .send)
    _ = write(&pipeline)
    #expect(submit(&pipeline, "b") == .wake)
    #expect(submit(&pipeline, "c") == .nothing)
    #expect(write(&pipeline) == ["b", "c"])
  }

  @Test func `what a receiver submits is sent with the rest of its batch`() {
    var pipeline = ready()
    _ = submit(&pipeline, "a")
    _ = write(&pipeline)

    let taken = pipeline.takeAnswered(1, at: 5)
    #expect(taken?.receivers.count == 1)
    #expect(submit(&pipeline, "b") == .nothing)
    let early = pipeline.beginWriting()
    #expect(early == nil)
    pipeline.uncork()
    #expect(write(&pipeline) == ["b"])
  }

  @Test func `a deadline counts also for what is submitted while a report is delivered`() {
    var pipeline = ready(limits: ConnectionLimits(deadline: 100, heartbeat: 1_000))
    look(&pipeline, at: 0, is: 1_000)

    _ = pipeline.takeAnswered(0, at: 10)

    #expect(submit(&pipeline, "a", at: 10) == .wake)
  }

  @Test func `what the socket did not take is sent first`() {
    var pipeline = ready()
    _ = submit(&pipeline, "abcdef")
    var written = pipeline.beginWriting()
    let bytes = written?.bytes ?? []
    _ = submit(&pipeline, "g")
    end(&written, &pipeline, sent: 3, isBlocked: true)
    let early = pipeline.beginWriting()
    #expect(early == nil)
    pipeline.unblock()

    var next = pipeline.beginWriting()
    #expect(next?.bytes == bytes)
    #expect(next?.sent == 3)
    end(&next, &pipeline)
    #expect(write(&pipeline) == ["g"])
  }

  @Test func `there is one writer at a time`() {
    var pipeline = ready()
    _ = submit(&pipeline, "a")
    var first = pipeline.beginWriting()
    _ = submit(&pipeline, "b")

    let second = pipeline.beginWriting()
    #expect(second == nil)
    end(&first, &pipeline)
    #expect(write(&pipeline) == ["b"])
  }

  @Test func `answers that are late are those of their connection`() {
    var pipeline = ready(at: 0)
    _ = submit(&pipeline, "a", at: 0)
    fail(pipeline.takeOverdue(at: 100).answers)
    _ = pipeline.lose(.connectionLost, at: 100, share: 0)
    pipeline.greet([], at: 101)
    pipeline.becomeReady(at: 101)
    _ = submit(&pipeline, "b", at: 101)

    let taken = pipeline.takeAnswered(1, at: 102)
    #expect(taken?.late == 0)
    #expect(taken?.receivers.count == 1)
  }

  @Test func `a writer of a lost connection changes nothing`() {
    var pipeline = ready()
    _ = submit(&pipeline, "a")
    var written = pipeline.beginWriting()
    _ = pipeline.lose(.connectionLost, at: 100, share: 0)
    pipeline.greet([], at: 101)
    pipeline.becomeReady(at: 101)
    end(&written, &pipeline, sent: 0, isBlocked: true)
    _ = submit(&pipeline, "b", at: 102)

    #expect(write(&pipeline) == ["b"])
  }

  @Test func `reads are repeated once before later commands, and writes fail`() {
    var pipeline = ready()
    for name in ["read", "write", "readB"] { _ = submit(&pipeline, name) }
    fail(pipeline.lose(.connectionLost, at: 100, share: 0))
    #expect(answers.failed == ["write"])
    #expect(pipeline.phase == .connecting, "the first attempt is made at once")
    _ = submit(&pipeline, "writeB", at: 100)
    pipeline.greet([], at: 100)
    pipeline.becomeReady(at: 100)

    #expect(write(&pipeline) == ["read", "readB", "writeB"])
    fail(pipeline.lose(.connectionLost, at: 101, share: 0))
    #expect(answers.failed == ["write", "read", "readB", "writeB"])
  }

  @Test func `a failed attempt fails all commands, and those during the pause at once`() {
    var pipeline = RedisPipeline(limits)
    _ = submit(&pipeline, "read")
    pipeline.beginConnecting()
    fail(pipeline.lose(.connectionLost, at: 0, share: 0))

    #expect(answers.failed == ["read"])
    #expect(pipeline.phase == .pausing(until: limits.firstPause))
    #expect(
      submit(&pipeline, "a")
        == .refuse(
          .notConnected(remaining: .nanoseconds(limits.firstPause), cause: .connectionLost)))
    #expect(!pipeline.isDue(at: limits.firstPause - 1))
    #expect(pipeline.isDue(at: limits.firstPause))
  }

  @Test func `pauses double up to the longest, less a random half`() {
    let limits = ConnectionLimits(deadline: 1, heartbeat: 1, firstPause: 10, longestPause: 35)

    #expect((0...4).map { limits.pause(after: $0, share: 0) } == [10, 10, 20, 35, 35])
    #expect(limits.pause(after: 2, share: 1) == 10)
    #expect(limits.pause(after: .max, share: 0.5) == 27)
  }

  @Test func `a connection that does not last counts as a failed attempt`() {
    var pipeline = ready(at: 0)
    _ = pipeline.lose(.connectionLost, at: 20, share: 0)
    #expect(pipeline.phase == .connecting)
    pipeline.greet([], at: 20)
    pipeline.becomeReady(at: 20)

    _ = pipeline.lose(.connectionLost, at: 25, share: 0)

    #expect(pipeline.phase != .connecting)
  }

  @Test func `a command fails at its deadline, and its late answer is dropped`() {
    var pipeline = ready(at: 0)
    _ = submit(&pipeline, "a", at: 0)
    _ = submit(&pipeline, "b", at: 60)
    let early = pipeline.takeOverdue(at: 99)
    #expect(early.answers.isEmpty)
    look(&pipeline, at: 99, is: 100)
    pipeline.lastReceived = 1
    let overdue = pipeline.takeOverdue(at: 100)
    fail(overdue.answers)

    #expect(answers.failed == ["a"])
    #expect(!overdue.isSilent, "bytes have come meanwhile")
    #expect(pipeline.count == 1)
    let taken = pipeline.takeAnswered(2, at: 101)
    #expect(taken?.late == 1)
    #expect(taken?.receivers.count == 1)
  }

  @Test func `a command that waits for a connection fails at its deadline`() {
    var pipeline = RedisPipeline(limits)
    _ = submit(&pipeline, "a", at: 0)
    _ = submit(&pipeline, "b", at: 60)
    pipeline.beginConnecting()
    look(&pipeline, at: 99, is: 100)
    let overdue = pipeline.takeOverdue(at: 100)
    fail(overdue.answers)

    #expect(answers.failed == ["a"])
    #expect(!overdue.isSilent, "there is no connection to lose")
    #expect(pipeline.count == 1)
  }

  @Test func `a server that was silent all the time has lost the connection`() {
    var pipeline = ready(at: 0)
    _ = submit(&pipeline, "a", at: 1)

    let overdue = pipeline.takeOverdue(at: 101)
    #expect(overdue.isSilent)
  }

  @Test func `a quiet connection is asked for a sign of life`() {
    var pipeline = ready(at: 0)
    #expect(!pipeline.needsHeartbeat(at: 49))
    look(&pipeline, at: 49, is: 50)
    #expect(pipeline.needsHeartbeat(at: 50))
    _ = submit(&pipeline, "PING", at: 50)

    #expect(!pipeline.needsHeartbeat(at: 60))
  }

  @Test func `the thread is woken for a deadline only after some quiet`() {
    let limits = ConnectionLimits(deadline: 100, heartbeat: 1_000)
    var pipeline = ready(limits: limits)
    look(&pipeline, at: 0, is: 1_000)
    #expect(submit(&pipeline, "a") == .sendAndWake)
    look(&pipeline, at: 1, is: 100)
    let taken = pipeline.takeAnswered(1, at: 2)
    pipeline.uncork()
    #expect(taken?.receivers.count == 1)
    look(&pipeline, at: 2, is: 102)
    #expect(submit(&pipeline, "b", at: 3) == .send)
    _ = pipeline.takeAnswered(1, at: 4)
    pipeline.uncork()
    look(&pipeline, at: 4, is: 104)
    look(&pipeline, at: 104, is: 1_004)
    #expect(submit(&pipeline, "c", at: 105) == .sendAndWake)
  }

  @Test func `more commands than the limit are refused`() {
    var pipeline = ready()
    for name in ["a", "b", "c"] { _ = submit(&pipeline, name) }

    #expect(submit(&pipeline, "d") == .refuse(.tooManyCommands(limit: 3)))
  }

  @Test func `commands are refused while too many bytes wait to be sent`() {
    var pipeline = ready(
      limits: ConnectionLimits(deadline: 100, heartbeat: 50, commands: 30, outputBytes: 10))
    _ = submit(&pipeline, "abcdef")
    #expect(submit(&pipeline, "abc") == .wake)
    #expect(submit(&pipeline, "d") == .refuse(.tooManyBytes(limit: 10)))
    _ = write(&pipeline)

    #expect(submit(&pipeline, "d") == .wake)
  }

  @Test func `commands are refused while too many bytes wait for a connection`() {
    var pipeline = RedisPipeline(
      ConnectionLimits(deadline: 100, heartbeat: 50, commands: 30, outputBytes: 10))
    _ = submit(&pipeline, "abcdef")
    pipeline.beginConnecting()
    #expect(submit(&pipeline, "abc") == .nothing)
    #expect(submit(&pipeline, "d") == .refuse(.tooManyBytes(limit: 10)))
    fail(pipeline.takeOverdue(at: 100).answers)
    #expect(answers.failed == ["abcdef", "abc"])

    #expect(submit(&pipeline, "d") == .nothing)
  }

  @Test func `what takes something back is sent first, whatever the limits are`() {
    var pipeline = ready()
    for name in ["a", "b", "c"] { _ = submit(&pipeline, name) }
    #expect(pipeline.submit(.takingBack(request("undoA"), deadline: 100), at: 0) == .nothing)
    _ = write(&pipeline)
    fail(pipeline.lose(.connectionLost, at: 1, share: 0))
    #expect(answers.failed == ["a", "b", "c"])

    #expect(pipeline.submit(.takingBack(request("undoB"), deadline: 100), at: 1) == .nothing)
    fail(pipeline.takeOverdue(at: 1_000).answers)
    fail(pipeline.lose(.connectionLost, at: 1_000, share: 0))
    pipeline.beginConnecting()
    _ = submit(&pipeline, "d", at: 1_000)
    pipeline.greet([], at: 1_001)
    let first = PendingReply(request: request("first"), deadline: 0, answer: { _ in })
    pipeline.becomeReady(at: 1_001, first: [first])

    #expect(write(&pipeline) == ["first", "undoA", "undoB", "d"])
    #expect(!pipeline.isDone)
    let taken = pipeline.takeAnswered(4, at: 1_002)
    #expect(taken?.receivers.count == 4)
    #expect(pipeline.isDone)
    fail(pipeline.close())
    let refused = pipeline.submit(.takingBack(request("undoC"), deadline: 0), at: 0)
    #expect(refused == .refuse(.closed))
  }

  @Test func `only what was sent is taken back`() {
    var pipeline = RedisPipeline(limits)
    _ = submit(&pipeline, "a", takeBack: "undoA")
    _ = submit(&pipeline, "b", takeBack: "undoB", at: 50)
    pipeline.beginConnecting()
    fail(pipeline.takeOverdue(at: 100).answers)
    fail(pipeline.lose(.connectionLost, at: 101, share: 0))

    #expect(answers.failed == ["a", "b"])
    #expect(pipeline.isDone)
    #expect(pipeline.takingBack.nextTime == nil)
  }

  @Test func `what is answered too late is taken back after it, and again on the next connection`()
  {
    var pipeline = ready(limits: ConnectionLimits(deadline: 100, heartbeat: 1_000))
    for name in ["a", "b"] { _ = submit(&pipeline, name, takeBack: "undo\(name)") }
    #expect(write(&pipeline) == ["a", "b"])
    pipeline.lastReceived = 50
    fail(pipeline.takeOverdue(at: 100).answers)
    #expect(answers.failed == ["a", "b"])
    #expect(write(&pipeline) == ["undoa", "undob"])

    let taken = pipeline.takeAnswered(3, at: 110)
    pipeline.uncork()
    #expect(taken?.late == 2)
    #expect(taken?.receivers.count == 1)
    fail(pipeline.lose(.connectionLost, at: 120, share: 0))
    pipeline.greet([], at: 130)
    pipeline.becomeReady(at: 130)
    #expect(write(&pipeline) == ["undob"])
  }

  @Test func `what the server can't take back for now is sent again after a while`() {
    let limits = ConnectionLimits(deadline: 100, heartbeat: 1_000, firstPause: 10)
    var pipeline = ready(limits: limits)
    func answer(_ text: RESPValue, at now: Int64) {
      pipeline.takingBack.answered(.init(request("undo"), nil), text, at: now, limits)
    }
    answer(.error("READONLY x"), at: 5)
    answer(.error("ERR x script: -OOM x"), at: 6)
    look(&pipeline, at: 5, is: 15)
    pipeline.sendTakingBack(at: 14)
    #expect(write(&pipeline) == [])
    pipeline.sendTakingBack(at: 15)
    #expect(write(&pipeline) == ["undo", "undo"])
    #expect(!pipeline.isDone, "they are under way")
    _ = pipeline.takeAnswered(2, at: 20)
    pipeline.uncork()
    answer(.error("LOADING x"), at: 20)
    look(&pipeline, at: 20, is: 40)
    #expect(pipeline.isDone, "it was attempted")
    answer(.integer(1), at: 21)
    pipeline.sendTakingBack(at: 22)
    #expect(write(&pipeline) == ["undo"], "the server can do so again")
    answer(.error("ERR x"), at: 23)
    #expect(pipeline.takingBack.nextTime == nil, "it never will")
  }

  @Test func `only so much is kept to be taken back`() {
    var pipeline = RedisPipeline(limits)
    for name in "abcde" { pipeline.takingBack.add(.init(request("undo\(name)"), nil), limit: 3) }
    pipeline.beginConnecting()
    pipeline.greet([], at: 0)
    pipeline.becomeReady(at: 0)

    #expect(write(&pipeline) == ["undoc", "undod", "undoe"])
  }

  @Test func `an answer without a command is a violation`() {
    var pipeline = ready()

    let taken = pipeline.takeAnswered(1, at: 0)
    #expect(taken == nil)
  }

  @Test func `a closed pipeline fails everything`() {
    var pipeline = ready()
    _ = submit(&pipeline, "read")
    fail(pipeline.close())

    #expect(answers.failed == ["read"])
    #expect(submit(&pipeline, "a") == .refuse(.closed))
  }

  // MARK: Helpers

  /// Names of received failures.
  private final class Answers: Sendable {
    private let names = Mutex<[String]>([])
    var failed: [String] { names.withLock { $0 } }
    func add(_ name: String) { names.withLock { $0.append(name) } }
  }

  private func ready(at time: Int64 = 0, limits: ConnectionLimits? = nil) -> RedisPipeline {
    var pipeline = RedisPipeline(limits ?? self.limits)
    pipeline.beginConnecting()
    pipeline.greet([], at: time)
    pipeline.becomeReady(at: time)
    return pipeline
  }

  private func request(_ name: String) -> RedisRequest {
    .encoded(Array("\(name) ".utf8), isRepeatable: name.hasPrefix("read"))
  }

  private func submit(
    _ pipeline: inout RedisPipeline, _ name: String, takeBack: String? = nil, at now: Int64 = 0
  ) -> Step {
    let reply = PendingReply(
      request: request(name), deadline: now + limits.deadline,
      answer: { [answers] in if case .failure = $0 { answers.add(name) } },
      takeBack: takeBack.map { .by(request($0)) } ?? .nothing)
    return pipeline.submit(reply, at: now)
  }

  private func look(_ pipeline: inout RedisPipeline, at now: Int64, is next: Int64) {
    let look = pipeline.nextLook(at: now)
    #expect(look == next)
  }

  private func fail(_ failed: [RedisAnswer]) {
    for answer in failed { answer(.failure(.connectionLost)) }
  }

  private func write(_ pipeline: inout RedisPipeline) -> [String] {
    var written = pipeline.beginWriting()
    let text = text(written)
    end(&written, &pipeline)
    return text
  }

  /// Ends a write of which the socket took so many bytes; nil for all.
  private func end(
    _ written: inout LinkOutput?, _ pipeline: inout RedisPipeline, sent: Int? = nil,
    isBlocked: Bool = false
  ) {
    guard var output = written else { return }
    (output.sent, output.isBlocked) = (sent ?? output.bytes.count, isBlocked)
    pipeline.endWriting(&output)
  }

  private func text(_ output: LinkOutput?) -> [String] {
    String(decoding: output?.bytes ?? [], as: UTF8.self).split { " \r\n*$123456789".contains($0) }
      .map { String($0) }
  }
}
