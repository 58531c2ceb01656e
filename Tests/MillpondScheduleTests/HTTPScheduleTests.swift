import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

/// Requests that overlap get whole answers, and leave a store as one order of them would.
@Suite(.schedules) struct HTTPScheduleTests {
  typealias Records = MemoryCache<String, HTTPCacheRecord>

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
    return cache.send(HTTPRequest(url: ProgramTransport.url, method: method, headers: headers))
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
}
