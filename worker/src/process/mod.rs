//! Child processes under control: group, deadline, output limit, obituary.
