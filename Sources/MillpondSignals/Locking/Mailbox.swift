public import Synchronization

/// Serialises what many threads send: one message is received at a time, in one order for all.
///
/// Whoever posts to a free mailbox receives its own message at once, on its own thread. A message
/// posted meanwhile, by another thread or from inside the receiver, is queued, and received by the
/// thread that has the turn, after what it is busy with. Nobody ever waits, so no posting can
/// deadlock, whatever locks the caller holds.
///
/// What `receive` touches needs no lock: having the turn is exclusive.
///
/// - Complexity: O(1): two atomic operations, and a lock only where messages meet.
@usableFromInline
package struct Mailbox<Message: Sendable>: ~Copyable, @unchecked Sendable {
  // Sendable because the turn is atomic, and what waits is set once and then locked.
  @usableFromInline let turn = Atomic<UInt8>(MailboxTurn.free)
  @usableFromInline let waiting = LazyObject()

  @inlinable
  package init() {}

  /// Receives `message`, now or after those before it.
  ///
  /// - Parameter replaces: Whether the second message makes the first, the last that waits,
  ///   superfluous (a newer progress does).
  @inlinable
  package borrowing func post(
    _ message: Message,
    replaces: (Message, Message) -> Bool = { _, _ in false },
    receive: (Message) -> Void
  ) {
    post(message, replaces: replaces, immediately: { receive(message) }, receive: receive)
  }

  /// Acts `immediately` if nobody has the turn; else leaves a message that stands for that.
  @inlinable
  borrowing func post(
    _ message: @autoclosure () -> Message,
    replaces: (Message, Message) -> Bool = { _, _ in false },
    immediately: () -> Void,
    receive: (Message) -> Void
  ) {
    if take() {
      immediately()
    } else if !enqueue(message(), replaces: replaces) {
      return
    }
    if !passOn() { drain(receive) }
  }

  /// Takes the turn, if it is free.
  @inlinable
  borrowing func take() -> Bool {
    turn.compareExchange(
      expected: MailboxTurn.free, desired: MailboxTurn.taken, ordering: .acquiring
    ).exchanged
  }

  /// Gives up the turn, unless messages wait.
  @inlinable
  borrowing func passOn() -> Bool {
    turn.compareExchange(
      expected: MailboxTurn.taken, desired: MailboxTurn.free, ordering: .acquiringAndReleasing
    ).exchanged
  }

  /// Queues a message; true where nobody has the turn any more, so that the caller now has it.
  @inlinable
  @inline(never)
  borrowing func enqueue(_ message: Message, replaces: (Message, Message) -> Bool) -> Bool {
    let queue = queue ?? makeQueue()
    let (replaced, took) = queue.withLock { messages -> (Message?, Bool) in
      var replaced: Message?
      if let last = messages.last, replaces(last, message) { replaced = messages.removeLast() }
      messages.append(message)
      let before = turn.exchange(MailboxTurn.takenWithWaiting, ordering: .acquiringAndReleasing)
      return (replaced, before == MailboxTurn.free)
    }
    _ = replaced  // released here, not under the lock
    return took
  }

  @inlinable
  @inline(never)
  borrowing func drain(_ receive: (Message) -> Void) {
    guard let queue else { return }
    repeat {
      let messages = queue.withLock { messages in
        turn.store(MailboxTurn.taken, ordering: .relaxed)
        let taken = messages
        messages = []
        return taken
      }
      for message in messages { receive(message) }
    } while !passOn()
  }

  @inlinable
  var queue: Locked<[Message]>? {
    waiting.object.map { Locked(buffer: unsafeDowncast($0, to: LockedBuffer<[Message]>.self)) }
  }

  @inlinable
  borrowing func makeQueue() -> Locked<[Message]> {
    let object = waiting.storeIfNil(LockedBuffer<[Message]>.make([]))
    return Locked(buffer: unsafeDowncast(object, to: LockedBuffer<[Message]>.self))
  }
}

/// An object that is made when it is first needed, and stays.
///
/// `AtomicLazyReference` would do, but looks up its generic metadata whenever it is released.
@usableFromInline
package struct LazyObject: ~Copyable {
  @usableFromInline let pointer = Atomic<UnsafeRawPointer?>(nil)

  @inlinable
  init() {}

  @inlinable
  deinit {
    if let pointer = pointer.load(ordering: .acquiring) {
      Unmanaged<AnyObject>.fromOpaque(pointer).release()
    }
  }

  @inlinable
  var object: AnyObject? {
    pointer.load(ordering: .acquiring).map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
  }

  /// Stores `new` unless there is an object already; what is there then.
  @inlinable
  borrowing func storeIfNil(_ new: AnyObject) -> AnyObject {
    let mine = Unmanaged.passRetained(new)
    let isStored = pointer.compareExchange(
      expected: nil, desired: UnsafeRawPointer(mine.toOpaque()), ordering: .acquiringAndReleasing
    ).exchanged
    if isStored { return new }
    mine.release()
    return object ?? new
  }
}

/// Who has a mailbox's turn.
@usableFromInline
package enum MailboxTurn {
  @inlinable static var free: UInt8 { 0 }
  @inlinable static var taken: UInt8 { 1 }
  @inlinable static var takenWithWaiting: UInt8 { 2 }
}
