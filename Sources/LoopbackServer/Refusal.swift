/// A request that the handler cannot answer, with the status to send before closing.
package struct Refusal: Error, Equatable {
  package let status: Int

  static let malformed = Refusal(status: 400)
  static let bodyTooLarge = Refusal(status: 413)
  static let headTooLarge = Refusal(status: 431)
  static let unknownCoding = Refusal(status: 501)
}
