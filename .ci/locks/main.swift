/// An object that takes the lock of the state that it is released from.
final class Witness: Sendable {
  private let state: Locked<Table>

  init(_ state: Locked<Table>) {
    self.state = state
  }

  deinit {
    let count = state.withLock { $0.witnesses.count }
    print("released under no lock, of a table of \(count)")
  }
}

struct Table: Sendable {
  var witnesses: [Int: Witness] = [:]
  var removals = 0

  mutating func removeAll() -> [Int: Witness] {
    defer { witnesses = [:] }
    removals += 1
    return witnesses
  }
}

let state = Locked(Table())
state.withLock { $0.witnesses[1] = Witness(state) }
state.discard { $0.removeAll() }
