/// A colour of three parts, each from 0 to 1.
struct Colour {
  var red: Double
  var green: Double
  var blue: Double

  /// The lightest colour.
  static let white = Colour(red: 1, green: 1, blue: 1)
  /// The darkest colour.
  static let black = Colour(red: 0, green: 0, blue: 0)

  /// Returns this colour mixed with a part of another one, from 0 (none of it) to 1 (only it).
  func mixed(with other: Colour, _ part: Double) -> Colour {
    Colour(
      red: red + (other.red - red) * part,
      green: green + (other.green - green) * part,
      blue: blue + (other.blue - blue) * part)
  }
}

extension Colour {
  /// Creates a colour by its place on the colour wheel, in turns (0 and 1 are red).
  ///
  /// - Source: CSS Color Module Level 4 §7.1.
  init(hue: Double, saturation: Double, lightness: Double) {
    func part(_ offset: Double) -> Double {
      let place = (offset + hue * 12).truncatingRemainder(dividingBy: 12)
      let reach = saturation * min(lightness, 1 - lightness)
      return lightness - reach * max(-1, min(place - 3, 9 - place, 1))
    }
    self.init(red: part(0), green: part(8), blue: part(4))
  }
}
