import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

/// Transfers that overlap, are left or are resumed are whole, and stored for nobody who has left.
@Suite(.schedules) struct TransferScheduleTests {
  private static let beginning = Data(repeating: 1, count: 20_000)
  private static let rest = Data(repeating: 2, count: 10_000)
  static let whole = beginning + rest

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
        "gets": { first.watch(source(left, partials).get(ProgramTransport.url)) },
        "sends the beginning": { left.begin(Self.whole, Self.beginning.count) },
        "leaves": { first.leave() },
      ])
      program.thread([
        "gets": { second.watch(source(transport, partials).get(ProgramTransport.url)) },
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
      seen.watch(source.get(ProgramTransport.url))
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
      program.thread([
        "gets": { first.watch(films.get(ProgramTransport.url)) }, "leaves": { first.leave() },
      ])
      program.thread(["gets": { second.watch(films.get(ProgramTransport.url)) }])
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
        "gets": {
          order.call("get") { seen.watch(films.get(ProgramTransport.url).map(\.byteCount)) }
        },
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
        found.watch(bytes.contains(ProgramTransport.url.absoluteString))
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
      let account = HTTPAuthorization(for: ProgramTransport.url, clock: ManualClock()) { _ in
        obtained.value += 1
        return ["X-User": "\(obtained.value)"]
      }
      let source = HTTPSource<URL>(
        transport: transport, authorization: account, clock: ManualClock())
      let seen = [Witness<Data>(), Witness<Data>()]
      for seen in seen {
        program.thread(["gets": { seen.watch(source.get(ProgramTransport.url)) }])
      }
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
      let account = HTTPAuthorization(for: ProgramTransport.url, in: scope, clock: ManualClock()) {
        _ in
        ["X-User": user.value]
      }
      let source = HTTPSource<URL>(
        transport: transport, authorization: account, clock: ManualClock())
      let (former, next) = (Witness<Data>(), Witness<Data>())
      program.thread([
        "gets": { former.watch(source.get(ProgramTransport.url)) },
        "answers": { transport.serve(Self.whole) },
      ])
      program.thread([
        "signs out": {
          user.value = "b"
          order.call("sign-out") { scope.end().subscribe() }
        },
        "gets": { next.watch(source.get(ProgramTransport.url)) },
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
