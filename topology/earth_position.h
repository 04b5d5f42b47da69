// Where a node stands, for pictures only: nothing is planned by it. A value.
#ifndef BANYAN_TOPOLOGY_EARTH_POSITION_H_
#define BANYAN_TOPOLOGY_EARTH_POSITION_H_

namespace banyan {

struct EarthPosition {
  double latitude_degrees = 0;   // -90 to 90, north is positive
  double longitude_degrees = 0;  // -180 to 180, east is positive
  friend bool operator==(const EarthPosition&, const EarthPosition&) = default;
};

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_EARTH_POSITION_H_
