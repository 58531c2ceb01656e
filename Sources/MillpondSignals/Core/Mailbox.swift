public import Synchronization

/// Serialises what many threads send: one message is received at a time, in one order for all.
///
/// Whoever posts to a free mailbox receives its own message at once, on its own thread. A message
/// posted meanwhile, by another thread or from inside the receiver, is queued, and received by the
/// thread that has the turn, after what it is busy with. Nobody waits for anybody, so no posting can
/// deadlock, whatever locks the caller holds: who meets another thread lets it run on for a moment
/// before it queues, which is cheaper for both than to meet again and again.
///
/// A thread that has nothing to send acts quietly instead: it never receives what others post.
///
/// What `receive` touches needs no lock: having the turn is exclusive.
///
/// - Complexity: O(1): two atomic operations, and a lock only where messages meet.
@usableFromInline
package struct Mailbox<Message: Sendable>: ~Copyable, Sendable {
  /// Zero if nobody has the turn; else the mark of the thread that has it, and one more if messages
  /// wait.
  @usableFromInline let turn = Atomic<UInt>(0)
  @usableFromInline let waiting = LazyObject()

  @inlinable
  package init() {}

  /// Acts `immediately` if nobody has the turn; else leaves a message that stands for that.
  ///
  /// - Parameter replaces: Whether the second message makes the first, the last that waits,
  ///   superfluous (a newer progress does).
  @inlinable
  package borrowing func post(
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

  /// Acts as one who has the turn, and receives nothing: neither this message nor others.
  ///
  /// For what is short, calls nobody and releases nothing, since it runs under the lock of the queue:
  /// so no message can arrive meanwhile, and those who want to post wait, as for any lock.
  ///
  /// - Parameter message: Left for the thread that has the turn, if one has it.
  /// - Returns: What `act` returns, for the caller to act on or to release; nil if the message was left.
  @inlinable
  borrowing func actQuietly<Result>(
    orPost message: @autoclosure () -> Message, _ act: () -> Result
  ) -> Result? {
    let queue = queue ?? makeQueue()
    return queue.withLock { messages in
      while true {
        if turn.compareExchange(expected: 0, desired: Self.quietMark, ordering: .acquiring)
          .exchanged
        {
          let result = act()
          turn.store(0, ordering: .releasing)
          return result
        }
        let present = turn.load(ordering: .relaxed)
        guard present != 0 else { continue }
        let leaves = turn.compareExchange(
          expected: present, desired: present | Self.waitingBit, ordering: .acquiringAndReleasing
        ).exchanged
        if leaves {
          messages.append(message())
          return nil
        }
      }
    }
  }

  /// Takes the turn, if it is free, or comes free in a moment.
  @inlinable
  borrowing func take() -> Bool {
    turn.compareExchange(expected: 0, desired: threadMark(), ordering: .acquiring).exchanged
      || takeInAMoment()
  }

  /// Lets the thread that has the turn run on, a few times, unless that is this one, or others
  /// wait already.
  @usableFromInline
  borrowing func takeInAMoment() -> Bool {
    let mark = threadMark()
    for _ in 0..<4 {
      let present = turn.load(ordering: .relaxed)
      if present == mark || present & Self.waitingBit != 0 { return false }
      yieldThread()
      if turn.compareExchange(expected: 0, desired: mark, ordering: .acquiring).exchanged {
        return true
      }
    }
    return false
  }

  /// Gives up the turn, unless messages wait.
  @inlinable
  borrowing func passOn() -> Bool {
    let present = turn.load(ordering: .relaxed)
    return present & Self.waitingBit == 0
      && turn.compareExchange(
        expected: present, desired: 0, ordering: .acquiringAndReleasing
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
      let before = turn.bitwiseOr(Self.waitingBit, ordering: .acquiringAndReleasing).oldValue
      if before == 0 { turn.store(threadMark() | Self.waitingBit, ordering: .relaxed) }
      return (replaced, before == 0)
    }
    _ = replaced  // released here, not under the lock
    return took
  }

  @inlinable
  @inline(never)
  borrowing func drain(_ receive: (Message) -> Void) {
    guard let queue else { return }
    var messages: [Message] = []
    repeat {
      messages = queue.withLock { messages in
        turn.store(threadMark(), ordering: .relaxed)
        let taken = messages
        messages = []
        return taken
      }
      for message in messages { receive(message) }
    } while !passOn()
    // What the last ones hold is released after the turn.
    withExtendedLifetime(messages) {}
  }

  @inlinable static var waitingBit: UInt { 1 }

  /// In place of a thread's mark while one acts quietly.
  @inlinable static var quietMark: UInt { 2 }

  @inlinable
  var queue: Locked<[Message]>? {
    waiting.object.map { unsafeDowncast($0, to: Locked<[Message]>.self) }
  }

  @inlinable
  borrowing func makeQueue() -> Locked<[Message]> {
    let object = waiting.storeIfNil(Locked<[Message]>([]))
    return unsafeDowncast(object, to: Locked<[Message]>.self)
  }
}

/// An object that is made when it is first needed, and stays.
///
/// `AtomicLazyReference` would do, but looks up its generic metadata whenever it is released.
@usableFromInline
package struct LazyObject: ~Copyable, Sendable {
  /// Its address, as a number, which is `Sendable`; zero if there is none yet.
  @usableFromInline let address = Atomic<UInt>(0)

  @inlinable
  package init() {}

  @inlinable
  deinit {
    if let pointer = UnsafeRawPointer(bitPattern: address.load(ordering: .acquiring)) {
      Unmanaged<AnyObject>.fromOpaque(pointer).release()
    }
  }

  @inlinable
  var object: AnyObject? {
    UnsafeRawPointer(bitPattern: address.load(ordering: .acquiring)).map {
      Unmanaged.fromOpaque($0).takeUnretainedValue()
    }
  }

  /// The state behind a lock that is the object, made of `state` if there is none.
  @inlinable
  package borrowing func locked<State>(_ state: @autoclosure () -> State) -> Locked<State> {
    let object = object ?? storeIfNil(Locked(state()))
    return unsafeDowncast(object, to: Locked<State>.self)
  }

  /// Stores `new` unless there is an object already; what is there then.
  @inlinable
  borrowing func storeIfNil(_ new: AnyObject) -> AnyObject {
    let mine = Unmanaged.passRetained(new)
    let isStored = address.compareExchange(
      expected: 0, desired: UInt(bitPattern: mine.toOpaque()), ordering: .acquiringAndReleasing
    ).exchanged
    if isStored { return new }
    mine.release()
    return object ?? new
  }
}
