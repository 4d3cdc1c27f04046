"""Meep: a pulse in a waveguide; energy and field each two units of time, and the flux through its end."""

import meep

WIDE = meep.Vector3(meep.inf, 1, meep.inf)
simulation = meep.Simulation(
    cell_size=meep.Vector3(16, 8),
    boundary_layers=[meep.PML(1.0)],
    geometry=[meep.Block(WIDE, material=meep.Medium(epsilon=12))],
    sources=[
        meep.Source(
            meep.GaussianSource(0.15, fwidth=0.1),
            component=meep.Ez,
            center=meep.Vector3(-6, 0),
            size=meep.Vector3(0, 1),
        )
    ],
    resolution=10,
)
end = simulation.add_flux(0.15, 0.1, 10, meep.FluxRegion(center=meep.Vector3(6), size=meep.Vector3(0, 4)))


def tell(simulation: meep.Simulation) -> None:
    energy = simulation.field_energy_in_box(center=meep.Vector3(), size=meep.Vector3(12, 6))
    field = simulation.get_field_point(meep.Ez, meep.Vector3(2.0, 0.3))
    if meep.am_master():
        print(f"energy {energy:.12g} field {field.real:.12g}")


simulation.run(meep.at_every(2, tell), until=80)
simulation.display_fluxes(end)
