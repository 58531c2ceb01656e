import Foundation
import Millpond
import Testing

@testable import MillpondRedis

@Suite struct RedisRecordTests {
  @Test func `a value comes back with its times and its validator`() {
    let value = Data("value".utf8)
    for validator in [
      nil, Validator(entityTag: "\"é\""), Validator(lastModified: "Mon"),
      Validator(entityTag: "a", lastModified: "b"),
    ] {
      let record = RedisRecord(bornAt: 1_700_000_000_000, endsAt: -5, validator: validator)
      // Not at the beginning of its bytes, as a value inside an answer.
      let stored = (Data("answer".utf8) + value + record.footer).dropFirst(6)

      let found = RedisRecord.divide(stored)
      #expect(found?.value == value)
      #expect(found?.record == record)
    }
  }

  @Test func `a part of a stored value, or one of another program, is in another form`() {
    let record = RedisRecord(bornAt: 1, endsAt: 2, validator: Validator(entityTag: "tag"))
    let stored = Data("value".utf8) + record.footer

    for length in 0..<stored.count { #expect(RedisRecord.divide(stored.prefix(length)) == nil) }
    #expect(RedisRecord.divide(Data("{\"name\":\"of another program\"}".utf8)) == nil)
  }

  @Test func `bytes without the mark are in another form, whatever comes before`() {
    var stored = Data("value".utf8) + RedisRecord(bornAt: 1, endsAt: 2).footer
    #expect(RedisRecord.divide(stored) != nil)
    stored[stored.count - 1] ^= 1

    #expect(RedisRecord.divide(stored) == nil)
  }

  @Test func `the life that is left counts from the origin`() {
    let stamped = Stamped(Data(), age: .seconds(60))
    let (record, life) = RedisRecord.of(
      stamped, .after(.seconds(100)), isFill: false, at: 1_000_000)

    #expect(life == 40_000)
    #expect(record.bornAt == 940_000)
    #expect(record.endsAt == 1_040_000)
  }

  @Test(arguments: [(1_000, 1_000_000, 100_000), (10, 10_000, 10_000)])
  func `a value's own life replaces that of the cache, and in a fill only shortens it`(
    own: Int, ofSet: Int64, ofFill: Int64
  ) {
    let stamped = Stamped(Data(), timeToLive: .after(.seconds(own)))
    let lives = [false, true].map {
      RedisRecord.of(stamped, .after(.seconds(100)), isFill: $0, at: 0).life
    }

    #expect(lives == [ofSet, ofFill])
  }

  @Test func `a value from the future is new, and one that is still there has a life`() {
    let record = RedisRecord(bornAt: 2_000, endsAt: 500)
    let stamped = record.stamped(Data(), at: 1_000)

    #expect(stamped.age == .zero)
    #expect(stamped.timeToLive == .after(.milliseconds(1)))
  }

  @Test func `lengths beyond the value make another form`() {
    var stored = Data("value".utf8) + RedisRecord(bornAt: 1, endsAt: 2).footer
    stored[stored.count - 24] = 6

    #expect(RedisRecord.divide(stored) == nil)
    stored[stored.count - 24] = 5
    #expect(RedisRecord.divide(stored)?.value == Data())
  }

  /// A bounded fuzz run: whatever is stored there has an age and a life.
  @Test func `no stored bytes do harm`() {
    let now = RedisRecord.now
    for number in 0..<20_000 {
      var stored = Data((0..<Int.random(in: 20...60)).map { _ in UInt8.random(in: 0...255) })
      // Lengths that fit are rare among random ones.
      if number % 2 == 0 { stored.append(contentsOf: [1, 0, 2, 0]) }
      for _ in 0..<2 {
        let time: [Int64] = [.min, .max, now, now - 1, -1, 0, .random(in: .min ... .max)]
        withUnsafeBytes(of: time.randomElement()?.littleEndian) { stored += $0.prefix(8) }
      }
      stored += Array("mpR1".utf8)
      guard let stamped = RedisForm.stamped.stamped(stored) else { continue }
      #expect(stamped.age >= .zero)
      if case .after(let life)? = stamped.timeToLive { #expect(life > .zero) }
    }
  }

  @Test(arguments: [Duration.zero, .seconds(1), .seconds(Int64.max)], [nil, TimeToLive.forever])
  func `a life that is over or endless needs no limit that traps`(age: Duration, own: TimeToLive?) {
    for cache in [TimeToLive.forever, .after(.zero), .after(.seconds(Int64.max))] {
      let stamped = Stamped(Data(), age: age, timeToLive: own)
      for isFill in [false, true] {
        let (record, life) = RedisRecord.of(stamped, cache, isFill: isFill, at: 1_700_000_000_000)
        #expect(life == nil ? record.endsAt == 0 : record.endsAt >= 1)
      }
    }
  }
}
