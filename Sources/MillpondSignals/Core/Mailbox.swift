public import Synchronization

/// A serialiser of messages from many threads: it receives one at a time, in one order for all.
///
/// A thread that posts to a free mailbox receives its own message at once. A message that is posted
/// meanwhile, by another thread or from inside the receiver, is queued; the thread that has the
/// turn receives it after its current message. No thread waits for the turn, so posting cannot
/// deadlock, whatever locks the caller holds. Before a thread queues a message, it yields a few
/// times to the thread that has the turn, which is cheaper for both than repeated collisions.
///
/// A thread that sends nothing acts quietly instead, and never receives messages of others.
///
/// State that only `receive` touches needs no lock, because the turn is exclusive.
///
/// - Complexity: O(1): two atomic operations, and a lock only on a collision.
@usableFromInline
@frozen
package struct Mailbox<Message: Sendable>: ~Copyable, Sendable {
  /// Zero while the turn is free; otherwise a place on the stack of the thread that has it, plus
  /// one if messages wait.
  @usableFromInline let turn = AtomicValue<UInt>(0)
  @usableFromInline let waiting = LazyObject()

  @inlinable
  package init() {}

  /// Runs `act` if the turn is free; otherwise queues a message that stands for it.
  ///
  /// - Parameters:
  ///   - message: The message to queue.
  ///   - replaces: Whether the second message makes the first, the last that waits, superfluous (as
  ///     newer progress does).
  ///   - act: Acts on the message at once.
  /// - Returns: Whether messages wait and this thread has the turn, so that it has to ``drain(_:)``.
  @inlinable
  package borrowing func act(
    orPost message: @autoclosure () -> Message,
    replaces: (Message, Message) -> Bool = { _, _ in false }, _ act: () -> Void
  ) -> Bool {
    if take() {
      act()
    } else if !enqueue(message(), replaces: replaces) {
      return false
    }
    return !passOn()
  }

  /// Receives `message` now, or after the messages before it; and then those of other threads that
  /// waited meanwhile.
  ///
  /// - Parameters:
  ///   - message: The message.
  ///   - replaces: As of ``act(orPost:replaces:_:)``.
  ///   - receive: Receives a message.
  @inlinable
  package borrowing func post(
    _ message: Message,
    replaces: (Message, Message) -> Bool = { _, _ in false },
    receive: (Message) -> Void
  ) {
    if act(orPost: message, replaces: replaces, { receive(message) }) { drain(receive) }
  }

  /// Runs `act` with the turn, and receives nothing, neither this message nor others.
  ///
  /// `act` runs under the lock of the queue, so it must be short, call nothing out and release
  /// nothing. No message can arrive meanwhile; threads that want to post wait, as for any lock.
  ///
  /// - Parameters:
  ///   - message: The message to queue if another thread has the turn.
  ///   - act: Acts on the message at once.
  /// - Returns: The result of `act`, for the caller to act on or to release; nil if the message was
  ///   queued.
  @inlinable
  package borrowing func actQuietly<Result>(
    orPost message: @autoclosure () -> Message, _ act: () -> Result
  ) -> Result? {
    queue.withLock { messages in
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

  /// Takes the turn, if it is free now or becomes free after a few yields.
  @inlinable
  borrowing func take() -> Bool {
    let place = stackAddress()
    return turn.compareExchange(expected: 0, desired: place, ordering: .acquiring).exchanged
      || takeInAMoment(place)
  }

  /// Yields a few times to the thread that has the turn, and takes it when it is free.
  ///
  /// Gives up if messages wait already, or if this thread seems to have the turn: further up on the
  /// same stack. That is a guess, which costs no look at the thread's identity for each event; a
  /// wrong one costs or saves yields, and changes nothing else.
  @usableFromInline
  borrowing func takeInAMoment(_ place: UInt) -> Bool {
    for _ in 0..<4 {
      let present = turn.load(ordering: .relaxed)
      if present &- place < Self.nearby || present & Self.waitingBit != 0 { return false }
      yieldThread()
      if turn.compareExchange(expected: 0, desired: place, ordering: .acquiring).exchanged {
        return true
      }
    }
    return false
  }

  /// Gives up the turn, unless messages wait; returns whether it did.
  @inlinable
  borrowing func passOn() -> Bool {
    let present = turn.load(ordering: .relaxed)
    return present & Self.waitingBit == 0
      && turn.compareExchange(
        expected: present, desired: 0, ordering: .acquiringAndReleasing
      ).exchanged
  }

  /// Queues a message; returns true if the turn was free, and the caller has it now.
  @inlinable
  @inline(never)
  borrowing func enqueue(_ message: Message, replaces: (Message, Message) -> Bool) -> Bool {
    let (replaced, took) = queue.withLock { messages -> (Message?, Bool) in
      var replaced: Message?
      if let last = messages.last, replaces(last, message) { replaced = messages.removeLast() }
      messages.append(message)
      let before = turn.bitwiseOr(Self.waitingBit, ordering: .acquiringAndReleasing).oldValue
      if before == 0 { turn.store(stackAddress() | Self.waitingBit, ordering: .relaxed) }
      return (replaced, before == 0)
    }
    withExtendedLifetime(replaced) {}  // released here, not under the lock
    return took
  }

  /// Receives the messages that wait, with the turn, which this thread has; then gives it up.
  @inlinable
  @inline(never)
  package borrowing func drain(_ receive: (Message) -> Void) {
    let queue = queue
    var messages: [Message] = []
    repeat {
      messages = queue.withLock { messages in
        turn.store(stackAddress(), ordering: .relaxed)
        let taken = messages
        messages = []
        return taken
      }
      for message in messages { receive(message) }
    } while !passOn()
    // Objects that the last messages hold are released after the turn.
    withExtendedLifetime(messages) {}
  }

  @inlinable static var waitingBit: UInt { 1 }

  /// The part of a stack, in bytes, within which a call inside another one is expected.
  private static var nearby: UInt { 128 * 1_024 }

  /// The mark in `turn` while a thread acts quietly.
  @inlinable static var quietMark: UInt { 2 }

  @inlinable
  var queue: Locked<[Message]> { waiting.locked([]) }
}

/// Returns an address in the caller's frame, or next to it: even, and never zero.
@inlinable
@inline(__always)
func stackAddress() -> UInt {
  var mark: UInt = 0
  return withUnsafeMutablePointer(to: &mark) { UInt(bitPattern: $0) }
}

/// An object that is made on first use and kept.
///
/// `AtomicLazyReference` would do, but looks up its generic metadata at each release.
@usableFromInline
@frozen
package struct LazyObject: ~Copyable, Sendable {
  /// The address of the object as a number, which is `Sendable`; zero if there is none yet.
  @usableFromInline let address = AtomicValue<UInt>(0)

  @inlinable
  package init() {}

  @inlinable
  deinit {
    if let pointer = UnsafeRawPointer(bitPattern: address.load(ordering: .acquiring)) {
      Unmanaged<AnyObject>.fromOpaque(pointer).release()
    }
  }

  /// The object, if it has been made.
  @inlinable
  package var object: AnyObject? {
    UnsafeRawPointer(bitPattern: address.load(ordering: .acquiring)).map {
      Unmanaged.fromOpaque($0).takeUnretainedValue()
    }
  }

  /// Stores `new` unless there is an object already, and returns the stored one.
  @inlinable
  package borrowing func storeIfNil(_ new: AnyObject) -> AnyObject {
    let mine = Unmanaged.passRetained(new)
    let isStored = address.compareExchange(
      expected: 0, desired: UInt(bitPattern: mine.toOpaque()), ordering: .acquiringAndReleasing
    ).exchanged
    if isStored { return new }
    mine.release()
    return object ?? new
  }

  /// Returns the object as a locked state, and makes it of `state` if there is none.
  @inlinable
  package borrowing func locked<State>(_ state: @autoclosure () -> State) -> Locked<State> {
    let object = object ?? storeIfNil(Locked(state()))
    return unsafeDowncast(object, to: Locked<State>.self)
  }
}
