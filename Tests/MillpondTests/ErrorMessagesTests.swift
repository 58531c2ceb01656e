import Foundation
import Millpond
import Testing

/// The messages of all errors that the framework makes, as a user reads them.
@Suite struct ErrorMessagesTests {
  struct Cause: Error, CustomStringConvertible {
    let description = "no space left on the device"
  }

  static let url = URL(string: "https://me:word@example.org/a?token=secret#part")

  static let signalErrors: [(any Error, String)] = [
    (
      SignalError.abandoned(origin: "Feed.swift:7"),
      "the signal made at Feed.swift:7 never ended: its observer was released"
    ),
    (SignalError.abandoned(origin: nil), "the signal never ended: its observer was released"),
    (
      SignalError.timedOut(after: .seconds(30)),
      "the awaited event did not arrive within 30 s (allow more time)"
    ),
    (
      SignalError.timedOut(after: .milliseconds(250), key: "user 7"),
      "the get of the key user 7 had no answer within 250 ms (allow more time)"
    ),
    (SignalError.empty, "the signal completed without a value"),
    (
      SignalError.bufferFull(limit: 12),
      "more than 12 events waited for their queue (raise the limit of receive(on:limit:))"
    ),
  ]

  static let cacheErrors: [(any Error, String)] = [
    (CacheError.miss, "no layer has a value for the key"),
    (
      CacheError.unavailable(layer: "disk", underlying: Cause()),
      "the layer disk is unavailable: no space left on the device"
    ),
    (
      CacheError.undecodable(key: "user 7", underlying: Cause()),
      "the value of the key user 7 can't be decoded: no space left on the device"
    ),
    (
      CacheError.partlyStored(key: "user 7", layer: "memory", underlying: Cause()),
      "the layer memory could not store the value of the key user 7, and was told to remove the key: "
        + "no space left on the device"
    ),
    (
      CacheError.inUse(layer: "disk in /caches/feed"),
      "the storage of the layer disk in /caches/feed is used by another process, or with other settings"
    ),
    (CacheError.circular(key: "user 7"), "the get of the key user 7 waits for itself"),
    (
      CacheError.refused(key: "user 7"),
      "the condition of the source does not hold for the key user 7"
    ),
    (
      CacheError.tooManyWaiting(key: "user 7", layer: "limited to 6", limit: 100),
      "the get of the key user 7 is limited to 6, and no more than 100 gets may wait for that "
        + "(raise its maxWaiting)"
    ),
    (
      CacheError.circuitOpen(layer: "people", remaining: .seconds(12), underlying: CacheError.miss),
      "the last gets from people failed, so none is made for another 12 s: "
        + "no layer has a value for the key"
    ),
    (
      CacheError.refusedValue(type: "Profile"),
      "the condition of the codec does not hold for a value of type Profile"
    ),
    (
      CacheError.unsupported(layer: "AnyCache", write: "remove without a closure for it"),
      "the layer AnyCache does not support remove without a closure for it"
    ),
    (
      CacheError.partlyWritten(
        failures: [("a", Cause()), (7, CacheError.scopeEnded())], count: 12),
      "of 12 writes 2 failed: a: no space left on the device; 7: the scope of the cache has ended"
    ),
    (
      CacheError.partlyWritten(failures: (1...5).map { ($0, CacheError.miss) }, count: 5),
      "of 5 writes 5 failed: 1: no layer has a value for the key; "
        + "2: no layer has a value for the key; 3: no layer has a value for the key; and 2 more"
    ),
    (
      CacheError.nameTaken(name: "users"),
      "the repository already has a member named users"
    ),
    (CacheError.scopeEnded(), "the scope of the cache has ended"),
    (
      CacheError.scopeEnded(key: "user 7"),
      "the scope of the cache ended before the get of the key user 7"
    ),
    (CacheError.shutDown(), "the repository has been shut down"),
    (
      CacheError.shutDown(key: "user 7"),
      "the source has been shut down and does not fetch the key user 7"
    ),
    (
      CacheError.unfinished(steps: ["flush of users", "close of disk"]),
      "the shutdown ended at its deadline without: flush of users, close of disk (allow more time)"
    ),
    (
      CacheError.unfinished(
        steps: ["flush of users"],
        underlying: CacheError.stepsFailed([("stop of feed", Cause())])),
      "the shutdown ended at its deadline without: flush of users (allow more time); before that: "
        + "stop of feed failed: no space left on the device"
    ),
    (
      CacheError.stepsFailed([("flush of users", Cause()), ("flush of feed", CacheError.miss)]),
      "flush of users failed: no space left on the device; "
        + "flush of feed failed: no layer has a value for the key"
    ),
  ]

  static let diskErrors: [(any Error, String)] = [
    (
      DiskError.failed(folder: "/caches/feed", key: nil, underlying: Cause()),
      "the disk cache failed for /caches/feed: no space left on the device"
    ),
    (
      DiskError.failed(folder: "/caches/feed", key: "a", underlying: Cause()),
      "the disk cache failed for the key \"a\" in /caches/feed: no space left on the device"
    ),
    (
      DiskError.tooLarge(folder: "/caches/feed", key: "a", byteCount: 70, limit: 50),
      "the value for \"a\" takes 70 bytes on disk, and the cache in /caches/feed holds 50 "
        + "(raise its byteLimit)"
    ),
    (
      DiskError.newerFormat(folder: "/caches/feed", version: 9, supported: 5),
      "the folder /caches/feed has version 9 of the disk cache's format, and this library reads 5 "
        + "(update it, or use another folder)"
    ),
    (DiskError.closed(folder: "/caches/feed"), "the disk cache in /caches/feed has been closed"),
  ]

  static let transferErrors: [(any Error, String)] = [
    (
      TransferError.status(code: 404, headers: [:], url: url),
      "the origin answered with status 404: https://example.org/a?token="
    ),
    (
      TransferError.tooLarge(limit: 9, url: url),
      "the body has more than 9 bytes (raise byteLimit or streamByteLimit of HTTPLimits, "
        + "or, for a file, byteLimit of its DiskCache): "
        + "https://example.org/a?token="
    ),
    (
      TransferError.headTooLarge(limit: 9, url: url),
      "the head has more than 9 bytes (raise headerByteLimit of HTTPLimits): "
        + "https://example.org/a?token="
    ),
    (
      TransferError.truncated(received: 3, expected: 9, url: url),
      "the body ended early, after 3 of 9 bytes: https://example.org/a?token="
    ),
    (
      TransferError.truncated(received: 3, expected: nil, url: url),
      "the body ended early, after 3 bytes: https://example.org/a?token="
    ),
    (
      TransferError.invalidResponse(reason: "no head", url: url),
      "the response is not valid: no head: https://example.org/a?token="
    ),
    (
      TransferError.timedOut(.idle, url: url),
      "the origin was silent for too long (raise idleTimeout of HTTPLimits): "
        + "https://example.org/a?token="
    ),
    (
      TransferError.timedOut(.total, url: url),
      "the transfer took too long (raise totalTimeout or streamTimeout of HTTPLimits): "
        + "https://example.org/a?token="
    ),
  ]

  static let imageErrors: [(any Error, String)] = [
    (
      ImageError.undecodable(key: "a", underlying: Cause()),
      "the picture a can't be decoded: no space left on the device"
    ),
    (
      ImageError.tooManyPixels(key: "a", size: ImageSize(width: 9, height: 8), limit: 70),
      "the picture a has 9 × 8 pixels, more than 70 (raise pixelLimit of its ImageCache)"
    ),
    (
      ImageError.tooManyBytes(key: "a", byteCount: 9, limit: 8),
      "the file of the picture a has 9 bytes, more than 8 (raise fileByteLimit of its ImageCache)"
    ),
  ]

  static let all = signalErrors + cacheErrors + diskErrors + transferErrors + imageErrors

  @Test(arguments: all.indices)
  func `an error says what failed, for what, and which limit to raise`(number: Int) {
    let (error, message) = Self.all[number]

    print(message)
    #expect(error.localizedDescription == message)
    #expect("\(error)" == message)
  }

  @Test(arguments: all.indices)
  func `a message can stand inside another, and holds no secret`(number: Int) {
    let message = Self.all[number].0.localizedDescription

    #expect(message.first?.isLowercase == true)
    #expect(!message.hasSuffix("."))
    for secret in ["me:", "word", "secret", "#part"] { #expect(!message.contains(secret)) }
  }

  @Test func `a URL that is none of HTTP's is named without secrets`() throws {
    let url = try #require(URL(string: "ftp://me:word@example.org/a?token=secret"))

    #expect(
      TransferError.unsupportedURL(url).localizedDescription
        == "not an HTTP URL: ftp://example.org/a?token=")
  }

  @Test func `a failed get with provenance names the error and the answers of the layers`()
    async throws
  {
    let failing = AnyCache<Int, Int>(
      get: { _ in .fail(Cause()) }, set: { _, _ in .just(()) },
      remove: { _ in .just(()) }, removeAll: { .just(()) })

    let error = await #expect(throws: CacheError.self) {
      _ = try await failing.named("network").lookUp(1).value
    }

    let message = error?.localizedDescription ?? ""
    #expect(message.hasPrefix("the get failed: no space left on the device (network: failed "))
  }
}
