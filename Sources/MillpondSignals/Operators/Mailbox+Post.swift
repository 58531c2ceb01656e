extension Mailbox {
  /// Runs `immediately` if the turn is free; otherwise queues a message that stands for it.
  ///
  /// - Parameters:
  ///   - message: The message to queue.
  ///   - replaces: Whether the second message makes the first, the last that waits, superfluous (as
  ///     newer progress does).
  ///   - immediately: Acts on the message at once.
  ///   - receive: Receives the messages of other threads that waited meanwhile.
  @inlinable
  package borrowing func post(
    _ message: @autoclosure () -> Message,
    replaces: (Message, Message) -> Bool = { _, _ in false },
    immediately: () -> Void,
    receive: (Message) -> Void
  ) {
    if act(orPost: message(), replaces: replaces, immediately) { drain(receive) }
  }
}
