/// Who is subscribed to one hot signal, in order of arrival.
///
/// Touched only by whoever has the turn of a mailbox, so nobody joins or leaves during a sending.
@usableFromInline
struct Members<Value: Sendable> {
  @usableFromInline var members: ContiguousArray<Member<Value>> = []

  @inlinable
  init() {}

  @inlinable
  mutating func append(_ member: Member<Value>) {
    members.append(member)
  }

  @inlinable
  mutating func remove(_ member: Member<Value>) {
    if let index = members.firstIndex(where: { $0 === member }) { members.remove(at: index) }
  }

  @inlinable
  func next(_ value: Value) {
    forEach { if !$0.lifetime.isEnded { $0.observer.next(value) } }
  }

  @inlinable
  func other(_ event: Event<Never>) {
    forEach { if !$0.lifetime.isEnded { $0.observer.other(event) } }
  }

  /// The array keeps the members, so none of them is retained for its turn.
  @inlinable
  func forEach(_ body: (Member<Value>) -> Void) {
    members.withUnsafeBufferPointer { buffer in
      buffer.withMemoryRebound(to: Unmanaged<Member<Value>>.self) { members in
        for member in members { member._withUnsafeGuaranteedRef(body) }
      }
    }
  }
}

@usableFromInline
final class Member<Value: Sendable>: Sendable {
  @usableFromInline let observer: Observer<Value>
  @usableFromInline let lifetime: Lifetime

  @inlinable
  init(_ observer: Observer<Value>, _ lifetime: Lifetime) {
    self.observer = observer
    self.lifetime = lifetime
  }
}
