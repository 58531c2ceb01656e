/// A rectangle; `x` grows to the right, `y` downwards.
struct Box: Equatable {
  var x: Double
  var y: Double
  var width: Double
  var height: Double

  var right: Double { x + width }
  var bottom: Double { y + height }
}
