/// The random choices behind one step of a program.
///
/// The same choices give the same step again, and smaller numbers a simpler one: each list of
/// alternatives begins with the simplest.
package struct Choices: Sendable {
  private var numbers: [Int] = []
  private var place = 0
  private var generator: SeededGenerator

  init(seed: UInt64) {
    generator = SeededGenerator(seed: seed)
  }

  /// Returns the next number; the first time a random one.
  package mutating func number(below limit: Int) -> Int {
    if place == numbers.count { numbers.append(.random(in: 0..<limit, using: &generator)) }
    defer { place += 1 }
    return min(numbers[place], limit - 1)
  }

  /// Returns one of some alternatives.
  package mutating func one<Element>(of elements: [Element]) -> Element {
    elements[number(below: elements.count)]
  }

  /// The same choices from the start.
  var again: Choices {
    var choices = self
    choices.place = 0
    return choices
  }

  /// The choices with one smaller number, except the first, which is the kind of the step.
  var simpler: [Choices] {
    numbers.indices.dropFirst().flatMap { place in
      let number = numbers[place]
      return Set([0, number / 2, number - 1]).filter { 0..<number ~= $0 }.sorted().map { smaller in
        var choices = again
        choices.numbers[place] = smaller
        return choices
      }
    }
  }
}

/// The kinds of steps that random programs consist of; a kind that is listed twice comes twice as
/// often.
package struct ProgramMix<Step: Sendable>: Sendable {
  package typealias Draw = @Sendable (inout Choices) -> Step

  private let draws: [Draw]
  private let lengths: ClosedRange<Int>

  package init(_ draws: [Draw], lengths: ClosedRange<Int>) {
    self.draws = draws
    self.lengths = lengths
  }

  /// Returns the choices for each step of the program of a seed.
  func program(seed: UInt64) -> [Choices] {
    var generator = SeededGenerator(seed: seed)
    return (0..<Int.random(in: lengths, using: &generator)).map { _ in
      var choices = Choices(seed: generator.next())
      _ = step(&choices)
      return choices.again
    }
  }

  /// Returns the steps that follow from choices.
  func steps(_ program: [Choices]) -> [Step] {
    program.map { choices in
      var choices = choices
      return step(&choices)
    }
  }

  private func step(_ choices: inout Choices) -> Step {
    choices.one(of: draws)(&choices)
  }
}
