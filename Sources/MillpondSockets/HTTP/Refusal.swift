/// A request that the handler cannot answer, with the status to send before closing.
package struct Refusal: Error, Equatable {
  package let status: Int

  package static let malformed = Refusal(status: 400)
  package static let bodyTooLarge = Refusal(status: 413)
  package static let headTooLarge = Refusal(status: 431)
  package static let unknownCoding = Refusal(status: 501)
}
